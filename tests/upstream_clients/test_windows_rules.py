"""How Windows finds programs and reads command lines: tables, since nothing of it asks the system."""

from collections.abc import Mapping

import pytest

from upstream_clients.platform.windows_rules import Command, command_for, find_program, value_of, without_twins

NODE = r"C:\Program Files\nodejs"
FILES = frozenset(
    {
        rf"{NODE}\npx",
        rf"{NODE}\npx.cmd",
        rf"{NODE}\node.exe",
        r"C:\tools\uvx.exe",
        r"C:\tools\node.exe",
        r"C:\work\bin\server.py",
        r"C:\work\bin\run.exe",
        r"C:\work\npx.exe",
        r"C:\odd%folder\x.bat",
        r"D:\x.BAT",
    }
)
ENV: Mapping[str, str] = {"Path": rf'{NODE};"C:\tools";;C:\odd%folder', "SystemRoot": r"C:\Windows"}


def is_file(path: str) -> bool:
    return path.lower() in {known.lower() for known in FILES}


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("npx", rf"{NODE}\npx.cmd"),  # the script for other systems beside it is not taken, nor the one of the folder
        ("NPX.CMD", rf"{NODE}\NPX.CMD"),
        ("node", rf"{NODE}\node.exe"),
        ("uvx", r"C:\tools\uvx.exe"),
        (r"C:\tools\uvx", r"C:\tools\uvx.exe"),
        ("C:/tools/uvx.exe", r"C:\tools\uvx.exe"),
        (r"bin\run", r"C:\work\bin\run.exe"),
        ("./bin/run.exe", r"C:\work\bin\run.exe"),
        (r"D:\x.bat", r"D:\x.bat"),
    ],
)
def test_a_program_is_found_as_windows_finds_it(command: str, found: str) -> None:
    assert find_program(command, ENV, r"C:\work", is_file) == found


@pytest.mark.parametrize("command", ["run", "server.py", r"C:\none\npx", "npx.exe", "npx.cmd.", "", "npx "])
def test_what_is_not_on_the_path_is_not_found(command: str) -> None:
    with pytest.raises(FileNotFoundError):
        find_program(command, ENV, r"C:\work", is_file)


def test_a_file_that_windows_does_not_start_is_no_program() -> None:
    with pytest.raises(OSError, match="name the program that runs it"):
        find_program(r"bin\server.py", ENV, r"C:\work", is_file)


@pytest.mark.parametrize(
    ("extensions", "found"),
    [(".CMD;.EXE", "x.cmd"), (".EXE;.CMD", "x.exe"), (".PY;.VBS", "x.exe"), ("", "x.exe"), (" .cmd ", "x.cmd")],
)
def test_the_order_of_pathext_counts_and_what_can_not_be_started_is_left_out(extensions: str, found: str) -> None:
    env = {"PATH": r"C:\a", "PATHEXT": extensions}
    here = {r"C:\a\x.cmd", r"C:\a\x.exe", r"C:\a\x.py", r"C:\a\x.vbs"}
    assert find_program("x", env, r"C:\work", here.__contains__) == rf"C:\a\{found}"


def test_a_program_gets_its_arguments_as_they_are() -> None:
    argv = ["node", "100%", 'a "b"', ""]
    command = command_for(argv, ENV, r"C:\work", is_file)
    assert command == Command(rf"{NODE}\node.exe", (rf"{NODE}\node.exe", *argv[1:]))
    assert "100%" not in repr(command)


@pytest.mark.parametrize(
    ("argument", "quoted"),
    [
        ("-y", "-y"),
        ("@scope/server@1.2.3", "@scope/server@1.2.3"),
        (r"C:\data", r"C:\data"),
        ("", '""'),
        ("two words", '"two words"'),
        ("a&calc.exe", '"a&calc.exe"'),
        ("a|b<c>d(e)^f", '"a|b<c>d(e)^f"'),
        ("wow!", '"wow!"'),
        ("a,b;c=d", '"a,b;c=d"'),
        ("C:\\my data\\", '"C:\\my data\\\\"'),
        ("grüße", '"grüße"'),
    ],
)
def test_an_argument_of_a_script_is_quoted_against_cmd(argument: str, quoted: str) -> None:
    command = command_for(["npx", "-y", argument], ENV, r"C:\work", is_file)
    line = rf'cmd.exe /d /s /v:off /c ""{NODE}\npx.cmd" -y {quoted}"'
    assert command == Command(r"C:\Windows\System32\cmd.exe", line)


@pytest.mark.parametrize("argument", ["%PATH%", "100%", '{"a": 1}', '"', "a\nb", "a\rb", '" & calc.exe & "'])
def test_an_argument_that_cmd_would_act_upon_is_refused_and_not_shown(argument: str) -> None:
    with pytest.raises(OSError, match=r"cmd\.exe would act upon") as refused:
        command_for(["npx", argument], ENV, r"C:\work", is_file)
    assert "calc" not in str(refused.value)


def test_a_script_in_a_folder_that_cmd_would_act_upon_is_refused() -> None:
    with pytest.raises(OSError, match="percent sign"):
        command_for(["x"], ENV, r"C:\work", is_file)


def test_cmd_is_windows_own_whatever_the_path_holds() -> None:
    command = command_for([r"D:\x.bat"], {"COMSPEC": r"C:\evil\cmd.exe"}, r"C:\work", is_file)
    assert command == Command(r"C:\Windows\System32\cmd.exe", r'cmd.exe /d /s /v:off /c ""D:\x.bat""')


def test_names_of_variables_are_compared_without_case_and_the_last_counts() -> None:
    env = {"PATH": "ours", "HOME": "h", "Path": "the entry's"}
    assert without_twins(env) == {"Path": "the entry's", "HOME": "h"}
    assert (value_of(env, "PATH"), value_of(env, "TEMP")) == ("the entry's", "")
