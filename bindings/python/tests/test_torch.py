"""The stopping criterion in the real transformers: 5 GB, for `scripts/cluster --torch`."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


class Bytes:
    """A tokenizer whose tokens are bytes."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        return bytes(ids).decode("utf-8", "replace")


def test_the_real_transformers_stop_a_tiny_model() -> None:
    from deadloop.integrations.transformers import LoopCriteria

    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=256, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    model = transformers.LlamaForCausalLM(config).eval()
    prompt = torch.tensor([[65, 66, 67]])
    loop = LoopCriteria(Bytes(), 3)
    # A model of one layer that is asked for the likeliest byte falls into a loop at once.
    out = model.generate(prompt, do_sample=False, max_new_tokens=2000, stopping_criteria=[loop], pad_token_id=0)
    assert loop.alarms[0] is not None and out.shape[1] < 2000
