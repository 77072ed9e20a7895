#!/usr/bin/env python3
"""A second reading of tests/formats/found: scripts/found-reading.py

Reads the files of JSON, JSON lines, server-sent events and CSV by Python alone. A row of SHAPES says by paths where a
format has its transcripts, thinking, answers, calls and results. `a.b` is a field of a field, a list means each of its
elements, `a?k=v` those with that field, `a!k` those without. JSON that stands in a text is looked into. Prints each
file in which a count is not that of right.txt, and fails if there is one.
"""
import csv, json, pathlib, re, sys

FOUND = pathlib.Path(__file__).resolve().parent.parent / "tests/formats/found"
CHOICE, THINKS = "choices.message.content", "choices.message.reasoning_content"
CC = "?type=assistant.message.content?type"
SPANS = "resourceSpans.scopeSpans.spans"
ATTRIBUTES = SPANS + ".attributes?key"
# Files, and the paths of transcripts, thinking, answers, calls and results; an empty one: the format has none here, and
# the file is one transcript.
SHAPES = [
    ("a.jsonl", "response_text", "", "response_text", "", ""),
    ("b.jsonl|alpaca|prompt-output|verl", "", "", "output", "", ""),
    ("atif", "", "steps.reasoning_content", "steps?source=agent.message", "steps.tool_calls", "steps.observation.results"),
    ("bedrock-batch", "", "", "modelOutput.content.text", "", ""),
    ("bedrock-converse", "", "output.message.content.reasoningContent.reasoningText.text", "output.message.content.text", "", ""),
    ("bedrock-invocation", "", "", "output.outputBodyJson.content.text", "", ""),
    ("bfcl", "", "", "result", "", ""),
    ("braintrust", "", "", "output.message.content", "", ""),
    ("big-|cc-", "", CC + "=thinking.thinking", CC + "=text.text", CC + "=tool_use", "?type=user.message.content?type=tool_result"),
    ("chatgpt", "", "", "mapping.*.message?author.role=assistant.content.parts", "", ""),
    ("chunks-no|sse-", "", "choices.delta.reasoning_content", "choices.delta.content", "", ""),
    ("claude-ai", "", "chat_messages?sender=assistant.content.thinking", "chat_messages?sender=assistant.content.text", "", ""),
    ("claude-code-print", "", "", "result", "", ""),
    ("codex-exec", "", "item?type=reasoning.text", "item?type=agent_message.text", "item?type=command_execution.id", "item?status=completed"),
    ("completions-flat|fin/flat", "completion", "", "completion", "", ""),
    ("csv.csv|fin/logs", "response", "", "response", "", ""),
    ("continue", "", "", "history.message?role=assistant.content", "", ""),
    ("cursor-agent", "", "", "?type=assistant.message.content.text", "?subtype=started", "?subtype=completed"),
    ("fin/chat|helicone|litellm|request-resp", "", "", "", "", ""),
    ("vertex", "", "", "response.candidates.content.parts.text", "", ""),
    ("gemini-api", "", "candidates.content.parts?thought=True.text", "candidates.content.parts!thought.text", "", ""),
    ("gemini-stream", "", "", "?role=assistant.content", "?type=tool_use", "?type=tool_result"),
    ("goose", "", "", "?role=assistant.content?type=text.text", "content?type=toolRequest", "content?type=toolResponse"),
    ("hf-inference|tgi-generate", "", "", "generated_text", "", ""),
    ("inspect", "", "samples.messages.content?type=reasoning.reasoning", "samples.messages?role=assistant.content?type=text.text", "", ""),
    ("kobold", "", "", "results.text", "", ""),
    ("langchain", "", "", "generations.text", "", ""),
    ("langgraph", "", "", "messages?type=ai.content", "", ""),
    ("llamacpp", "", "", "content", "", ""),
    ("llm-logs", "", "", "response", "", ""),
    ("lmstudio", "", "messages.versions.steps?style.type=thinking.content.text", "messages.versions.steps!style.content.text", "", ""),
    ("mlflow", "", "data.spans.attributes.mlflow\\spanOutputs." + THINKS, "data.spans.attributes.mlflow\\spanOutputs." + CHOICE, "", ""),
    ("mtbench", "", "", "choices.turns", "", ""),
    ("oaieval", "", "", "data.sampled", "", ""),
    ("openai-legacy", "", "", "choices.text", "", ""),
    ("openai-messages", "", "", "messages?role=assistant.content", "", ""),
    ("opencode-run", "", "", "?type=text.part.text", "?type=tool_use", "?type=tool_use.part.state.output"),
    ("openhands", "", "", "tool_call_metadata.model_response.choices.message.content", "?action=run", "?observation=run"),
    ("otel-console", "", "", "attributes.gen_ai\\output\\messages.parts?type=text.content", "", ""),
    ("otlp-genai-1", "", ATTRIBUTES + "=gen_ai\\output\\messages.value.stringValue.parts?type=reasoning.content",
     ATTRIBUTES + "=gen_ai\\output\\messages.value.stringValue.parts?type=text.content", "", ""),
    ("otlp-genai-events", "", "", SPANS + ".events?name=gen_ai\\choice.attributes?key=message.value.stringValue.content", "", ""),
    ("otlp-openinf", "", "", ATTRIBUTES + "=llm\\output_messages\\0\\message\\content.value.stringValue", "", ""),
    ("otlp-openllm", "", "", ATTRIBUTES + "=gen_ai\\completion\\0\\content.value.stringValue", "", ""),
    ("phoenix", "", "", "attributes\\llm\\output_messages.message\\content", "", ""),
    ("pi-", "", "message.content?type=thinking.thinking", "message?role=assistant.content?type=text.text",
     "message.content?type=toolCall", "message?role=toolResult"),
    ("promptfoo", "", "", "results.results.response.output", "", ""),
    ("qwen-code", "", "message.parts?thought=True.text", "message?role=model.parts!thought.text", "message.parts.functionCall", "message.parts.functionResponse"),
    ("sillytavern", "", "extra.reasoning", "?is_user=False.mes", "", ""),
    ("tau2", "simulations", "", "simulations.messages?role=assistant.content", "", ""),
    ("tgi-stream", "", "", "token.text", "", ""),
    ("vercel", "", "?type=reasoning-delta.delta", "?type=text-delta.delta", "", ""),
    ("verifiers", "", "", "completion?role=assistant.content", "", ""),
    ("whisper", "", "", "segments.text", "", ""),
]
WRAPPED = ("", "response_body", "response")


def at(value, path):
    """All that stands at a path."""
    if isinstance(value, str) and path and value[:1] in ("{", "["):
        value = json.loads(value)
    if isinstance(value, list):
        return [found for item in value for found in at(item, path)]
    if not path:
        return [value] if value not in (None, "") else []
    step, _, rest = path.partition(".") if not path.startswith(("?", "!")) else ("", "", path)
    name, sign, condition = re.match(r"([^?!]*)([?!]?)(.*)", step).groups()
    if sign:
        condition, dot, rest = re.match(r"(.*?)(?:(\.)(.*))?$", condition + ("." + rest if rest else "")).groups()
        return at(at(value, name), sign + condition + (dot + rest if dot else ""))
    if not name and rest.startswith(("?", "!")):
        condition, _, more = rest[1:].partition(".")
        # A dot before the sign of equality is a part of the condition.
        while "?" in rest[:1] and "=" not in condition:
            part, _, more = more.partition(".")
            condition += "." + part
        field, _, word = condition.partition("=")
        if not isinstance(value, dict):
            return []
        there = at(value, field)
        holds = not there if rest[0] == "!" else word.replace("\\", ".") in [str(one) for one in there]
        return at(value, more) if holds else []
    if not isinstance(value, dict):
        return []
    inner = list(value.values()) if name == "*" else value.get(name.replace("\\", "."))
    return at(inner, rest)


def records(path):
    text = path.read_text()
    if path.suffix == ".csv":
        return list(csv.DictReader(text.splitlines()))
    try:
        return json.loads(text)
    except ValueError:
        lines = [re.sub(r"^data: ?", "", line.strip()) for line in text.splitlines()]
        return [json.loads(line) for line in lines if line.startswith("{")]


def counts(path, shape):
    read = records(path)
    if shape[1:] == ("",) * 5:
        places = [name + "." * bool(name) for name in WRAPPED]
        thought, said = ([found for place in places for found in at(read, place + inner)] for inner in (THINKS, CHOICE))
        return [len(said), sum(map(len, thought)), sum(map(len, said)), 0, 0]
    whole, thought, said, calls, results = (at(read, path) if path else [] for path in shape[1:])
    calls = set(map(str, calls))
    return [len(whole) if shape[1] else 1, sum(map(len, thought)), sum(map(len, said)), len(calls), len(results)]


def main():
    differ, read, left = 0, 0, []
    for line in (FOUND / "right.txt").read_text().splitlines():
        name, told = line.split(": ", 1)
        shape = next((row for row in SHAPES if any(name.startswith(part) for part in row[0].split("|"))), None)
        if shape is None or (FOUND / name).suffix not in (".json", ".jsonl", ".csv", ".sse", ".txt"):
            left.append(name)
            continue
        words = ("transcripts", "reasoning", "answer", "calls", "results")
        theirs = [int(re.search(rf"{word} (\d+)", told)[1]) for word in words]
        mine = counts(FOUND / name, shape)
        read += 1
        if mine != theirs:
            differ += 1
            print(f"{name}: read {mine}, right.txt {theirs}")
    print(f"{read} files read, {differ} differ; not read: {', '.join(left)}")
    sys.exit(differ > 0)


main()
