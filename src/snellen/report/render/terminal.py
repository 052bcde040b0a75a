"""The first screen of a run as lines of text, for a terminal of some width and 24 lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from snellen.report.first_screen import FirstScreen, KeyFinding, ModelVerdict
from snellen.report.glossary import SIGN_MEANINGS, sentence_on
from snellen.report.ranking import ModelRanking
from snellen.report.results import AnyFinding
from snellen.report.words import UNKNOWN, in_unit, interval, is_known

HEIGHT = 24  # lines of the smallest common terminal; the last is the prompt's
NARROWEST, WIDEST = 60, 120
MODEL_WIDTH, FEWEST_ROWS = 16, 3
MANY = 8  # models from which on there is no room for a command
READING = "In % or points, with 95% intervals; shared places: no clear difference."


def screen_lines(screen: FirstScreen, path: Path, *, width: int = 80, reported: bool = True) -> list[str]:
    """The verdicts, the table, what to do next and where the report is; not more than one screen, if that can be."""
    width = max(NARROWEST, min(width, WIDEST))
    meanings, where = _meanings(_signs(screen), width), _where(screen, path, reported)
    if screen.ranking is None:
        head, foot = _verdict(screen.verdicts[0], width), [*meanings, *_next(screen, width), *where]
        table = _strongest(screen.verdicts[0], _left([*head, *foot], width) - 3, width)
    else:
        foot = [*meanings, *where]
        after = _next(screen, width) if len(screen.verdicts) <= MANY else []
        room = max(FEWEST_ROWS, _left([*foot, *after], width) - 6)
        head = _headlines(screen.verdicts, max(2, room - len(screen.verdicts)), width)
        table = _ranked(screen.ranking, max(FEWEST_ROWS, room - len(head)), width)
        foot = [*meanings, *after, *where]
    return [*head, "", *table, *foot]


def _left(lines: Sequence[str], width: int) -> int:
    """The lines that others leave of a screen."""
    return HEIGHT - 1 - sum(lines_of(line, width) for line in lines)


def lines_of(text: str, width: int) -> int:
    """How many lines of a terminal a text takes."""
    return max(1, -(-len(text) // width))


# Verdicts


def _verdict(verdict: ModelVerdict, width: int) -> list[str]:
    """The model's name and its sentences."""
    return [verdict.model, *(line for sentence in verdict.sentences for line in _wrapped(sentence, width, "  "))]


def _headlines(verdicts: Sequence[ModelVerdict], most: int, width: int) -> list[str]:
    """A line for each headline with the models that it is of, as far as there is room for so many."""
    models: dict[str, list[str]] = {}
    for verdict in verdicts:
        models.setdefault(verdict.headline, []).append(_shortened(verdict.model, MODEL_WIDTH))
    texts = []
    for headline, names in models.items():
        who = ", ".join(names) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} more"
        texts.append(f"{who}: {headline}")
    whole = [line for text in texts for line in _wrapped(text, width, hanging="  ")]
    if len(whole) <= most:
        return whole
    lines = [_cut(text, width) for text in texts]
    return lines if len(lines) <= most else [*lines[: most - 1], "… and verdicts of other models"]


# Tables


def _strongest(verdict: ModelVerdict, room: int, width: int) -> list[str]:
    """The strongest findings of one model, `room` lines of them if there is room for any."""
    if not verdict.findings:
        return ["no other finding has a number"]
    head = ("strongest findings (% or points)", "value", "95% interval", "change", "trust")
    lines: list[str] = []
    for count in range(1, len(verdict.findings) + 1):
        longer = aligned([head, *map(_key_row, verdict.findings[:count])], width)
        if len(longer) > max(room, 0) + 2 and count > 2:
            break
        lines = longer
    return lines


def _key_row(key: KeyFinding) -> tuple[str, ...]:
    change = key.change.removesuffix(" points")
    return key.label, key.value.removesuffix(" points"), key.interval, change, f"{key.sign} {key.taken_for}".strip()


def _ranked(ranking: ModelRanking, room: int, width: int) -> list[str]:
    """The models with their places, and as many columns as there is room for."""
    models = ranking.models[:room]
    names = [_shortened(ranked.model, MODEL_WIDTH) for ranked in models]
    wide = max(map(len, ["model", *names]))
    columns = [[_ranked_cell(ranked.findings[place]) for ranked in models] for place in range(len(ranking.columns))]
    left, chosen = width - 7 - wide, []
    for topic, cells in zip(ranking.columns, columns):
        own = max([14, *map(len, cells)])
        if own + 2 > left:
            break
        left -= own + 2
        chosen.append((textwrap.wrap(topic, own), [cell.ljust(own) for cell in cells], own))
    tall = max(len(head) for head, _, _ in chosen)
    lines = []
    for line in range(tall):
        first = f"{'place':<5}  {'model':<{wide}}" if line == tall - 1 else " " * (7 + wide)
        heads = [([""] * (tall - len(head)) + head)[line].ljust(own) for head, _, own in chosen]
        lines.append("  ".join([first, *heads]).rstrip())
    lines.append("  ".join(["─" * 5, "─" * wide, *("─" * own for _, _, own in chosen)]))
    for number, (ranked, name) in enumerate(zip(models, names)):
        cells = [cells[number] for _, cells, _ in chosen]
        lines.append("  ".join([f"{ranked.place:<5}", f"{name:<{wide}}", *cells]).rstrip())
    hidden = len(ranking.models) - len(models)
    more = [f"… and {hidden} more"] if hidden else []
    return [*lines, *more, *_wrapped(READING, width)]


def _ranked_cell(finding: AnyFinding | None) -> str:
    """A number, its interval in brackets and its mark."""
    if finding is None or not is_known(finding.value):
        return UNKNOWN
    value = in_unit(finding.value, finding.unit).removesuffix("%").removesuffix(" points")
    ends = interval(finding.low, finding.high, finding.unit)
    sign = finding.interference.sign if finding.interference else ""
    return f"{value} ({ends}) {sign}".rstrip() if ends != UNKNOWN else f"{value} {sign}".rstrip()


def aligned(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Rows in columns under a head; the first column gives way where they are too wide, in lines of its own."""
    wide = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    wide[0] = max(24, min(wide[0], width - sum(wide[1:]) - 2 * (len(wide) - 1)))
    lines: list[str] = []
    for number, row in enumerate(rows):
        first, *more = textwrap.wrap(row[0], wide[0]) or [""]
        cells = [first.ljust(wide[0]), *(text.ljust(own) for text, own in zip(row[1:], wide[1:]))]
        lines += ["  ".join(cells).rstrip(), *(f"  {line}" for line in more)]
        if number == 0:
            lines.append("  ".join("─" * own for own in wide))
    return lines


# Below the table


def _signs(screen: FirstScreen) -> set[str]:
    """The marks that are on the screen."""
    keys = {key.sign for verdict in screen.verdicts for key in verdict.findings}
    ranked = [finding for model in (screen.ranking.models if screen.ranking else ()) for finding in model.findings]
    return (keys | {finding.interference.sign for finding in ranked if finding and finding.interference}) - {""}


def _meanings(signs: Iterable[str], width: int) -> list[str]:
    """What the marks mean in short, and DI in one sentence; nothing without marks."""
    shown = set(signs)
    marks = [f"{sign} {meaning.partition(':')[0]}" for sign, meaning in SIGN_MEANINGS.items() if sign in shown]
    sentence = sentence_on("DI")
    return _wrapped(f"{', '.join(marks)}, by DI: {sentence[0].lower()}{sentence[1:]}", width) if marks else []


def _next(screen: FirstScreen, width: int) -> list[str]:
    """The first of the next steps, its command whole so that it can be pasted."""
    if screen.warnings:
        return [f"next: the warning{'s' * (screen.warnings > 1)} at the top"]
    steps = screen.next_steps[:1]
    return [line for step in steps for line in (f"next: {step.reason}", *command_lines(step.command, width))]


def command_lines(command: str, width: int) -> list[str]:
    """A command in lines that a shell takes as one: broken between words, and inside double quotes, where `\\` joins lines."""
    pieces, single, double = [""], False, False
    for letter in command:
        double ^= letter == '"' and not single
        single ^= letter == "'" and not double
        if letter == " " and not single:
            pieces.append("")
        else:
            pieces[-1] += letter
    lines = [" "]
    for piece in pieces:
        if len(lines[-1]) + len(piece) + 3 > width and lines[-1].strip():
            lines.append("   ")
        lines[-1] += f" {piece}"
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _where(screen: FirstScreen, path: Path, reported: bool) -> list[str]:
    measured = sum(verdict.measured for verdict in screen.verdicts)
    pairs = ", pairs of models: --pairs" if screen.ranking else ""
    lines = [f"all {measured} findings: snellen report {path} --all{pairs}"]
    return [*lines, *([f"report: {path / 'report.html'}"] if reported else [])]


def _wrapped(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _shortened(text: str, most: int) -> str:
    """A name without its middle: names of checkpoints often differ at their ends."""
    return text if len(text) <= most else f"{text[: (most - 1) // 2]}…{text[-(most // 2) :]}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rsplit(' ', 1)[0]} …"
