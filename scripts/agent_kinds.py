"""The kinds of agents, by the source of a run. A source that is not here is one of coding agents."""

RECENT = {"apiflow": "a simulated API", "balrog": "games", "browser": "browsers", "tau2-forks": "service agents", "tau2mermaid": "service agents"}
OLDER = ("agentrx", "intercode", "iso-bench", "mini-swe-agent", "sola-study", "swe-polybench", "tau-bench", "tau2-bench", "whowhen")
KINDS = RECENT | dict.fromkeys(OLDER, "2022 to 2025")
