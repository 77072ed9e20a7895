"""A guard fed by hand."""

from __future__ import annotations

import copy
import pickle
import threading

import deadloop
import pytest

SENTENCE = "Wait, let me check the roads once more. "


def alarm_of(guard: deadloop.Guard, channel: str = "reasoning") -> deadloop.Alarm:
    for _ in range(100):
        if (alarm := guard.push(channel, SENTENCE)) is not None:
            return alarm
    raise AssertionError("no alarm")


def test_an_alarm_comes_once_and_stays_on_the_guard() -> None:
    guard = deadloop.Guards.recommended().guard("m")
    assert not guard.fired and guard.alarm is None
    alarm = alarm_of(guard)
    assert guard.fired and guard.alarm == alarm
    assert guard.push("reasoning", SENTENCE) is None
    assert (alarm.channel, alarm.kind, alarm.unit) == ("reasoning", "paragraph", SENTENCE)
    assert (alarm.onset, alarm.period, alarm.copies) == (40, 40, 5)
    assert "known at 200" in alarm.log_line and "in its thinking" in alarm.user_message


WARNS = '[[guard]]\ndetector = "periodic"\nresponse = "warn"'


def test_what_only_warns_is_told_once_and_ends_nothing() -> None:
    guards = deadloop.Guards.parse(WARNS)
    guard = guards.guard()
    assert all(guard.push("reasoning", SENTENCE) is None for _ in range(100))
    assert [(warning.response, warning.kind) for warning in guard.warnings()] == [("warn", "paragraph")]
    assert guard.warnings() == [] and not guard.fired
    told: list[deadloop.Alarm] = []
    texts = list(deadloop.watch([SENTENCE] * 100, guards, on_warning=told.append))
    assert len(texts) == 100 and [warning.response for warning in told] == ["warn"]


def test_a_fresh_guard_has_read_nothing() -> None:
    guard = deadloop.Guards.recommended().guard()
    first = alarm_of(guard)
    assert alarm_of(guard.fresh()) == first


def test_prose_is_left_alone(prose: str) -> None:
    guard = deadloop.Guards.recommended().guard()
    assert guard.push("answer", prose) is None
    assert all(guard.push("reasoning", word + " ") is None for word in prose.split(" "))


def test_the_channels_are_apart_and_an_unknown_one_is_named() -> None:
    guard = deadloop.Guards.recommended().guard()
    for _ in range(4):
        assert guard.push("reasoning", SENTENCE) is None
        assert guard.push("answer", SENTENCE) is None
    with pytest.raises(ValueError, match='"thought"; there is: reasoning, answer, arguments'):
        guard.push("thought", SENTENCE)


def test_settings_are_read_by_model_and_what_is_wrong_has_its_place(tmp_path: object) -> None:
    text = '[[guard]]\ndetector = "periodic"\n[[model]]\nmatch = "a*"\n[[model.guard]]\ndetector = "checkpoint"\n'
    guards = deadloop.Guards.parse(text)
    found = []
    for model in ("abc", "b"):
        guard = guards.guard(model)
        found.append(next(a for a in (guard.push("answer", "so ") for _ in range(2000)) if a).detector)
    assert found == ["checkpoint", "periodic"]
    path = f"{tmp_path}/settings.toml"
    with open(path, "w") as file:
        file.write(text)
    assert deadloop.Guards.load(path).id == guards.id != deadloop.Guards.recommended().id
    with pytest.raises(ValueError, match='mine.toml:2:12: unknown detector "periodc"'):
        deadloop.Guards.parse('[[guard]]\ndetector = "periodc"\n', "mine.toml")
    with pytest.raises(FileNotFoundError):
        deadloop.Guards.load("/none/settings.toml")


def test_alarms_and_errors_travel() -> None:
    alarm = alarm_of(deadloop.Guards.recommended().guard())
    assert pickle.loads(pickle.dumps(alarm)) == alarm == copy.deepcopy(alarm)
    assert deadloop.Alarm.of_json(alarm.json()) == alarm
    error = pickle.loads(pickle.dumps(deadloop.LoopError(alarm)))
    assert error.alarm == alarm and str(error) == alarm.log_line


def test_long_chunks_are_as_short_ones() -> None:
    text = SENTENCE * 1000
    guards = deadloop.Guards.recommended()
    long, short = guards.guard().push("answer", text), alarm_of(guards.guard(), "answer")
    assert long is not None and long.exact == short.exact and long.delivered == len(text)


def test_guards_are_shared_by_threads() -> None:
    guards = deadloop.Guards.recommended()
    found: list[deadloop.Alarm] = []
    threads = [threading.Thread(target=lambda: found.append(alarm_of(guards.guard()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len({alarm.json() for alarm in found}) == 1


@pytest.mark.parametrize("text", ["ab😀c" * 200, "思考" * 300, "\ud83dx" * 300])
def test_halves_of_surrogate_pairs_are_put_together(text: str) -> None:
    """Every way in which JSON cuts a pair: chunks of so many units of UTF-16."""
    units = text.encode("utf-16-le", "surrogatepass")
    whole = units.decode("utf-16-le", "replace")
    guards = deadloop.Guards.recommended()
    wanted = guards.guard().push("answer", whole)
    assert wanted is not None
    for size in range(1, 9):
        guard = guards.guard()
        cut = (units[i : i + 2 * size].decode("utf-16-le", "surrogatepass") for i in range(0, len(units), 2 * size))
        alarm = next(a for a in (guard.push("answer", chunk) for chunk in cut) if a)
        assert (alarm.exact, alarm.onset, alarm.unit) == (wanted.exact, wanted.onset, wanted.unit), size
