"""The command line: one module a command, imported only when it is called.

Rule: data goes to stdout, everything else to stderr; errors are one line, with a documented exit code.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from types import MappingProxyType

import click

from ctxgc.cli._streams import ensure_streams

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "demo": ("demo", "See it work: a scripted 60-turn session, through the real proxy. No API key."),
        "proxy": ("proxy", "Stand between an agent and its model API."),
        "page": ("page", "Serve the profiler page over a store, in the browser."),
        "top": ("top", "Watch a session's context as it grows, in the terminal."),
        "profile": ("profile", "Say where the tokens of a transcript or session went."),
        "replay": ("replay", "Compare policies on recorded transcripts: cost and survival."),
        "sessions": ("sessions", "List the sessions in the store."),
        "recall": ("recall", "Read back what a stub stands for."),
        "gc-log": ("gc_log", "List a session's collections: why, what was predicted, what was billed."),
        "explain": ("explain", "Say of each cell of a request why it was sent as it was."),
        "diff": ("diff", "Show what the agent sent against what the model got."),
        "ledger": ("ledger", "Keep the books: facts, each with the original that bears it out."),
        "statusline": ("statusline", "Print one line about a session, for agents that show one."),
        "dashboards": ("dashboards", "Export the Grafana dashboards and Prometheus rules."),
        "mcp": ("mcp", "Serve recall and search to an agent over MCP."),
        "audit": ("audit", "Verify, show or export what was stored."),
        "config": ("config", "Show the configuration in force, and where each value came from."),
    }
)
EPILOG = """\b
Start here:
  ctxgc demo                                        see what it does
  ctxgc proxy --upstream https://api.openai.com/v1  then OPENAI_BASE_URL=http://127.0.0.1:8787/v1
  ctxgc profile transcript.jsonl                    where did the tokens go?

\b
Exit codes: 0 ok, 1 a finding (audit broken), 2 usage, 3 bad configuration,
4 unreadable or unknown input or store, 5 cannot listen or reach, 6 refused by the ledger,
7 something does not agree with the ledger, 130 Ctrl-C."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for, so that help and completion stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"ctxgc.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run a command. One whose reader has left (``| head``) has done its work; click would call it failed."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise SystemExit(_left()) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table alone, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ctxgc")
def cli() -> None:
    """A garbage collector for the context of LLM agents.

    ctxgc sits between an agent and its model API, says who put every token into the context and what it costs, keeps
    waste from being sent, and keeps the whole history in an append-only store.
    """


def main() -> None:
    """The entry point of the ``ctxgc`` script."""
    ensure_streams()
    try:
        code = cli.main(prog_name="ctxgc", standalone_mode=False)
        sys.stdout.flush()
        raise SystemExit(code if isinstance(code, int) else 0)
    except click.exceptions.Abort:
        raise SystemExit(130) from None
    except click.UsageError as error:
        raise SystemExit(_misused(error)) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except BrokenPipeError:
        raise SystemExit(_left()) from None
    except OSError as error:  # what we open ourselves has errors of its own: this is the output
        click.echo(f"ctxgc: cannot write the output: {error.strerror or error}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(4) from None
    except Exception as error:
        raise SystemExit(_explain(error)) from None


def _misused(error: click.UsageError) -> int:
    """Say what is wrong with a command's arguments in one line, and what says more; the exit code."""
    from ctxgc.cli._output import printable

    if type(error).__name__ == "NoArgsIsHelpError":  # nothing is wrong but that nothing was asked for
        error.show()
    else:
        asked = error.ctx.command_path if error.ctx else "ctxgc"
        click.echo(printable(f"ctxgc: {error.format_message().rstrip('.')}; see {asked} --help"), err=True)
    return error.exit_code


def _left() -> int:
    """The exit code where nobody reads the output any more; what is still to be written goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _explain(error: Exception) -> int:
    """Print an error of ours as one line and return its exit code; anything else is a bug and keeps its traceback."""
    from ctxgc.cli._output import printable
    from ctxgc.errors import ConfigError, CtxgcError, InputError
    from ctxgc.policies import PolicyError
    from ctxgc.store import StoreError

    codes = {CtxgcError: 1, StoreError: InputError.exit_code, PolicyError: ConfigError.exit_code}
    code = next((code for kind, code in codes.items() if isinstance(error, kind)), None)
    if code is None:
        raise error
    click.echo(f"ctxgc: {printable(str(error))}", err=True)  # it may repeat what stood in a file
    return error.exit_code if isinstance(error, CtxgcError) else code
