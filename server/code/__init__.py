"""Code mode's runtime: a model's JavaScript, run where it can reach nothing but the gateway's own three operations.

    CodeRunner ── a child per run ──▶ launcher (Linux) ──▶ Node without any grant ──▶ QuickJS in WebAssembly ──▶ code
         ▲                                                                                          │
         └──────────────── frames over two pipes: ready, log, call, done ◀──────────────────────────┘

Nothing of this package is imported unless the configuration asks for mode `code` (or a person for `toolfold code`).

Laws
1. No code runs before its child has tried to break out and could not (`judging.py`). There is no weaker way.
2. The child is not believed and nothing of ours is in it: no secret, no environment, no file, no tool.
3. Every bridged call takes the one road (`bridge.py`).
"""

from server.code.bridge import Bridge
from server.code.child import Runtime
from server.code.gate import Gate, Verdict
from server.code.run import CodeRunner, Outcome

__all__ = ["Bridge", "CodeRunner", "Gate", "Outcome", "Runtime", "Verdict"]
