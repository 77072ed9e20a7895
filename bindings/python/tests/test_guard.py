"""A guard fed by hand."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from typing import Any

import deadloop
import pytest

SENTENCE = "Wait, let me check the roads once more. "


def alarm_of(guard: deadloop.Guard, channel: str = "reasoning") -> deadloop.Alarm:
    for _ in range(100):
        if (decision := guard.push(SENTENCE, channel)).alarm is not None:
            return decision.alarm
    raise AssertionError("no alarm")


def test_an_alarm_stays() -> None:
    guard = deadloop.Guards.recommended().guard("m")
    assert not guard.fired and guard.alarm is None
    alarm = alarm_of(guard)
    assert guard.fired and guard.alarm == alarm
    again = guard.push(SENTENCE, "reasoning")
    assert (again.action, again.alarm) == ("stop", alarm)
    assert (alarm.channel, alarm.kind, alarm.unit) == ("reasoning", "paragraph", SENTENCE)
    assert (alarm.onset, alarm.period, alarm.copies) == (40, 40, 5)
    assert "known at 200" in alarm.log_line and "in its thinking" in alarm.user_message


WARNS = '[[guard]]\ndetector = "periodic"\nresponse = "warn"'


def test_what_only_warns_is_told_once_and_ends_nothing() -> None:
    guards = deadloop.Guards.parse(WARNS)
    guard = guards.guard()
    decisions = [guard.push(SENTENCE, "reasoning") for _ in range(100)]
    assert not any(decisions) and not guard.fired
    told_by_guard = [(warning.response, warning.kind) for decision in decisions for warning in decision.warnings]
    assert told_by_guard == [("warn", "paragraph")]
    told: list[deadloop.Alarm] = []
    texts = list(deadloop.watch([SENTENCE] * 100, guards, on_warning=told.append))
    assert len(texts) == 100 and [warning.response for warning in told] == ["warn"]


SKIPS = 'prompt = "skip"\n[[guard]]\ndetector = "periodic"'
IGNORES = "ignore = ['^Wait']\n[[guard]]\ndetector = \"periodic\""
DRILLS = '[[guard]]\ndetector = "periodic"\n[[model]]\ntask = "drill"\n[[model.guard]]\ndetector = "periodic"\nenabled = false'


@pytest.mark.parametrize(
    ("settings", "task", "user", "stops"),
    [
        (SKIPS, "", [], True),
        (SKIPS, "", ["Say it.", SENTENCE * 60], False),
        (SKIPS, "", ["Say it."], True),
        (IGNORES, "", [], False),
        (DRILLS, "drill", [], False),
        (DRILLS, "chat", [], True),
    ],
)
def test_what_is_answered_is_known_to_the_guard(settings: str, task: str, user: list[str], stops: bool) -> None:
    guards = deadloop.Guards.parse(settings)
    answering = guards.answering(task=task, user=user)
    unit = SENTENCE + "\n" if settings is IGNORES else SENTENCE
    guard = answering.guard("m")
    assert any(guard.push(unit, "answer").action == "stop" for _ in range(50)) == stops
    fresh = guard.fresh()
    assert any(fresh.push(unit, "answer").action == "stop" for _ in range(50)) == stops
    texts = list(deadloop.watch([SENTENCE if settings is not IGNORES else unit] * 50, answering, on_alarm="stop"))
    assert (len(texts) < 50) == stops
    if not task:
        by_hand = guards.guard("m")
        assert not any(by_hand.user(text) for text in user)
        assert any(by_hand.push(unit, "answer").action == "stop" for _ in range(50)) == stops


def test_a_fresh_guard_has_read_nothing() -> None:
    guard = deadloop.Guards.recommended().guard()
    first = alarm_of(guard)
    assert alarm_of(guard.fresh()) == first


def test_prose_is_left_alone(prose: str) -> None:
    guard = deadloop.Guards.recommended().guard()
    assert not guard.push(prose, "answer")
    assert not any(guard.push(word + " ", "reasoning") for word in prose.split(" "))


def test_the_channels_are_apart_and_an_unknown_one_is_named() -> None:
    guard = deadloop.Guards.recommended().guard()
    for _ in range(4):
        assert not guard.push(SENTENCE, "reasoning")
        assert not guard.push(SENTENCE, "answer")
    with pytest.raises(ValueError, match='"thought"; expected one of: reasoning, answer, arguments$'):
        guard.push(SENTENCE, "thought")
    for channel in ("tools", "turns"):
        with pytest.raises(ValueError, match="calls and turns have methods of their own"):
            guard.push(SENTENCE, channel)
    with pytest.raises(ValueError, match=r"the text comes first, then its channel: push\(text, channel\)"):
        guard.push("reasoning", SENTENCE)


def test_settings_are_read_by_model_and_what_is_wrong_has_its_place(tmp_path: object) -> None:
    text = '[[guard]]\ndetector = "periodic"\n[[model]]\nmatch = "a*"\n[[model.guard]]\ndetector = "checkpoint"\n'
    guards = deadloop.Guards.parse(text)
    found = []
    for model in ("abc", "b"):
        guard = guards.guard(model)
        found.append(next(d.alarm for d in (guard.push("so ", "answer") for _ in range(2000)) if d).detector)
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
    long, short = guards.guard().push(text, "answer").alarm, alarm_of(guards.guard(), "answer")
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
    wanted = guards.guard().push(whole, "answer").alarm
    assert wanted is not None
    for size in range(1, 9):
        guard = guards.guard()
        cut = (units[i : i + 2 * size].decode("utf-16-le", "surrogatepass") for i in range(0, len(units), 2 * size))
        alarm = next(d.alarm for d in (guard.push(chunk, "answer") for chunk in cut) if d.alarm)
        assert (alarm.exact, alarm.onset, alarm.unit) == (wanted.exact, wanted.onset, wanted.unit), size


def test_each_response_is_a_decision() -> None:
    for response, action in (("stop", "stop"), ("refuse", "refuse"), ("warn", "continue"), ("observe", "continue")):
        text = f'[[guard]]\ndetector = "duplicate"\nresponse = "{response}"\n[guard.params]\nn = 3'
        guard = deadloop.Guards(text).guard()
        assert guard.user("Which road?") is guard.turn("a") is guard.turn() is guard.call("ls", {"a": 1}, "1") is deadloop._alarm.CONTINUE
        assert guard.result("1", ["x", None]) is guard.call("ls", '{"a": 1}', id="2") is deadloop._alarm.CONTINUE
        decision = guard.call("ls", arguments={"a": 1})
        assert (decision.action, bool(decision), guard.fired) == (action, action != "continue", action == "stop"), response
        alarms = [decision.alarm] if decision else list(decision.warnings)
        assert [alarm.response for alarm in alarms if alarm] == [response]
        assert len(decision.warnings) == (action == "continue")
        later = guard.call("ls", {"a": 1})
        assert later.action == action and later.warnings == ()
    assert guard.handoff("a", "b") is guard.finish("stop") is guard.finish() is deadloop._alarm.CONTINUE


def test_silence_is_an_event() -> None:
    guard = deadloop.Guards('[[guard]]\ndetector = "stall"').guard()
    assert not guard.push("It is", "answer") and not guard.silence(9.5)
    decision = guard.silence(31)
    assert decision.action == "stop" and decision.alarm is not None and "fell silent" in decision.alarm.user_message
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="expected a number from 0 on"):
            guard.silence(wrong)


def test_guards_can_be_subclassed() -> None:
    class Mine(deadloop.Guards):
        """Guards of a program."""

        def stop(self) -> str:
            return self.id

    for made in (Mine.recommended(), Mine.load("recommended-agents"), Mine.parse(WARNS), Mine(WARNS, "mine")):
        assert type(made) is Mine and made.stop() == made.id
    assert deadloop.Guards.load("recommended").id == deadloop.Guards.recommended().id


def test_guards_that_see_nothing_are_named_once() -> None:
    text = '[[guard]]\ndetector = "periodic"\n[[guard]]\ndetector = "error-run"'
    guards = deadloop.Guards(text)
    assert guards.blind(["answer", "calls"]) == ["error-run: no results"]
    assert guards.blind(["answer", "calls", "results"]) == []
    with pytest.warns(deadloop.BlindGuardWarning, match="error-run: no results.*deadloop.agents"):
        deadloop.watch(["x"], guards)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        deadloop.watch(["x"], guards)
        deadloop.watch(["x"])
    for refuses in (lambda: deadloop.watch([], guards, strict=True), lambda: deadloop.http.Transport(guards, strict=True)):
        with pytest.raises(ValueError, match="error-run: no results"):
            refuses()
    with pytest.raises(ValueError, match='"clock"; expected one of: reasoning'):
        guards.blind(["clock"])


def test_threads_share_one_guard() -> None:
    """They take turns: none fails, and all of the text is read."""
    guard = deadloop.Guards.recommended().guard()
    errors: list[BaseException] = []
    long = "".join(f"{i * 7919 % 100003} is a number of its own, unlike {i * 104729 % 1299709}.\n" for i in range(2000))

    def work(text: str) -> None:
        try:
            for _ in range(30):
                guard.push(text, "reasoning"), guard.turn(), guard.alarm
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(text,)) for text in ("x", long) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_response_is_fed_as_any_buffer(kind: Any) -> None:
    event = b'data: {"choices":[{"delta":{"content":"' + SENTENCE.encode() + b'"}}]}\n\n'
    live = deadloop.Guards.recommended().live()
    passed = live.feed(kind(event * 1000))
    assert type(passed) is bytes and passed == event * 5 and live.alarm is not None
    assert live.feed(kind(event)) == b"" and b"length" in live.ending
    with pytest.raises(TypeError):
        live.feed(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        live.feed("text")  # type: ignore[arg-type]
