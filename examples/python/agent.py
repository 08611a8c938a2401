"""An agent's tool loop with a scripted model: each step is a script, each observation is what it printed."""
import libshell

STEPS = [
    "printf 'id,name\\n1,ada\\n2,bob\\n' > people.csv; cat people.csv",
    "tail -n +2 people.csv | cut -d, -f2 | sort -r",
    "nosuchtool || echo \"status $?\"",
]


def main() -> None:
    with libshell.Shell(env={"AGENT": "demo"}, timeout=5) as shell:
        for step in STEPS:
            output = shell.run(step)
            print(f"$ {step}\n{output.stdout}{output.stderr}", end="")
        for change in shell.changes():
            print(change.kind, change.path, change.size)


if __name__ == "__main__":
    main()
