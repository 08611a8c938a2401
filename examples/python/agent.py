"""An agent's tool loop with a scripted model: the model sees what the shell says about itself, each step is a tool call, each observation is what came
back, shaped for a model. A custom command and an approval in the middle of a script stand for the host's own part."""
import asyncio

import libshell

STEPS = [
    "printf 'id,name\\n1,ada\\n2,bob\\n' > people.csv; cat people.csv",
    "tail -n +2 people.csv | cut -d, -f2 | sort -r | lookup",
    "nosuchtool",
    "rm people.csv; touch scratch; rm scratch; ls",
    "exit 0",
]


class ScriptedModel:
    """In place of a model: it is told about its tool, and answers each observation with the next call."""

    def __init__(self, tools):
        assert tools[0]["name"] == "shell"
        self.steps, self.observations = iter(STEPS), []

    def next_call(self, observation):
        self.observations.append(observation)
        script = next(self.steps)
        return None if script == "exit 0" else {"name": "shell", "input": {"command": script}}


async def lookup(call):
    """A command of the host's own, which may take its time."""
    for name in call.stdin.decode().split():
        await asyncio.sleep(0)
        call.write(f"{name}@example.org\n")


async def approve(question):
    return question.subject.endswith("/scratch")


async def main() -> None:
    policy = libshell.Policy(asks=["delete"], ask=approve)
    async with libshell.Shell(env={"AGENT": "demo"}, timeout=5, policy=policy) as shell:
        shell.command("lookup", lookup)
        model, observation = ScriptedModel(shell.tools("anthropic")), shell.describe()
        while True:
            call = model.next_call(observation)
            if call is None:
                break
            output = await shell.arun(call["input"]["command"])
            observation = output.format()
            print(f"$ {call['input']['command']}\n{observation}", end="")
        for change in shell.changes():
            print(change.kind, change.path, change.size)


if __name__ == "__main__":
    asyncio.run(main())
