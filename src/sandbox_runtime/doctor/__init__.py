"""Attack a deployment and report what held.

Contract: an attack is a folder of data below attacks/ (attack.toml and its programs; corpus.py describes the format). Attacks
run one after another, in boxes of a backend that the caller opened or as clients of a server that the caller names, each for at
most ATTACK_LIMIT_S. Afterwards everything created for them is removed.

A verdict is a fact about this deployment: held, escaped, inconclusive (which counts as a failure) or not applicable, with the
reason. Imports isolation, workspace and model; nothing of settings, languages or HTTP.
"""

from sandbox_runtime.doctor.attack_runner import ATTACK_LIMIT_S, attack, attack_server
from sandbox_runtime.doctor.client_scenario import Server
from sandbox_runtime.doctor.corpus import Attack, load_corpus
from sandbox_runtime.doctor.diagnosis import Diagnosis
from sandbox_runtime.doctor.families import Family
from sandbox_runtime.doctor.layer_report import LayerAssessment, LayerStanding, assess_layers
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
