"""Attacks a deployment and says what held.

Contract: an attack is a folder of data below attacks/ (attack.toml and its programs; see corpus.py for the form). Attacks run in
boxes of a backend that the caller opened, or as clients of a server that the caller names, one after another, each for at most
ATTACK_LIMIT_S; afterwards everything that was made for them is gone.

A verdict is a fact about this deployment: held, escaped, inconclusive (which counts as a failure) or not
applicable, with the reason. Knows isolation, the files of boxes and the model; nothing of settings, languages or HTTP.
"""

from sandbox_runtime.doctor.attack_runner import ATTACK_LIMIT_S, attack, attack_server
from sandbox_runtime.doctor.client_scenario import Server
from sandbox_runtime.doctor.corpus import Attack, load_corpus
from sandbox_runtime.doctor.diagnosis import Diagnosis
from sandbox_runtime.doctor.families import Family
from sandbox_runtime.doctor.layers import LayerAssessment, LayerStanding, assess_layers
from sandbox_runtime.doctor.server_guards import Guard
from sandbox_runtime.doctor.verdict import State, Verdict

__all__ = [
    "ATTACK_LIMIT_S",
    "Attack",
    "Diagnosis",
    "Family",
    "Guard",
    "LayerAssessment",
    "LayerStanding",
    "Server",
    "State",
    "Verdict",
    "assess_layers",
    "attack",
    "attack_server",
    "load_corpus",
]
