"""A sandbox for the Strands Agents SDK, driven as that SDK drives one: a turn's tool calls at once, which the shell takes in order. Written over
LocalSandbox, which needs no SDK; with it, ShellSandbox is used the same way and get_tools() gives what an Agent takes."""
import asyncio
import contextlib
import io

from libshell.strands import LocalSandbox


def python3(call):
    """An interpreter of the host's choosing, here a very trusting one."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(call.argv[2] if call.argv[1:2] == ["-c"] else call.stdin.decode(), {})
    call.write(out.getvalue())


async def main() -> None:
    box = LocalSandbox(output_directory="/workspace/out", interpreters={"python3": python3})
    await box.write_text("/workspace/numbers.txt", "3\n1\n2\n")
    turn = [box.execute("sort -n /workspace/numbers.txt"), box.execute_code("print(sum(range(10)))", "python3"),
            box.execute_code("1", "fortran"), box.execute("mkdir -p out; sort -n numbers.txt > out/sorted.txt", cwd="/workspace")]
    for result in await asyncio.gather(*turn):
        print(result.exit_code, repr(result.stdout), result.stderr.strip(), [f.name for f in result.output_files])
    async for part in box.execute_streaming("for i in 1 2 3; do echo $i; sleep 0.01; done", timeout=5):
        print(part)


if __name__ == "__main__":
    asyncio.run(main())
