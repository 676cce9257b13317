"""What others use, as mechanisms: to compare with, each with the privacy it really keeps.

======================  ============================================  ===============
function                row                                           keeps
======================  ============================================  ===============
`exponential`           p_v ∝ e^{c·score}                             (ε, 0)
`permute_and_flip`      random order, take v with e^{−c·gap}          (ε, 0)
`pooled_…_flip`         as where v leads, less e^ε for each record    (ε, 0), see there
`report_noisy_max`      the largest of score + noise                  (ε, 0)
`smooth_noisy_max`      the largest of score + Laplace noise          (ε, 0)
`inverse_sensitivity`   p_v ∝ e^{−c·λ_v}, sharp c                     (ε, 0)
`joint_exponential`     p_v ∝ e^{c·joint score}, c = ε/2Δ             (ε, 0)
`noise_then_nearest`    a place drawn with e^{−ε·distance/2}          (ε, 0)
`randomized_response`   true answer a, others b                       (ε, δ)
`propose_test_release`  true answer if a noisy margin is large        (ε, δ)
`printed_operator`      the paper's Theorem 4 as printed              (ε, e^ε·δ)
======================  ============================================  ===============
"""

from rainbowdp.baselines.base import Baseline
from rainbowdp.baselines.joint import joint_exponential
from rainbowdp.baselines.noise import noise_then_nearest
from rainbowdp.baselines.pooled import pooled_permute_and_flip
from rainbowdp.baselines.printed import printed_operator
from rainbowdp.baselines.selection import (
    exponential,
    inverse_sensitivity,
    permute_and_flip,
    report_noisy_max,
    smooth_noisy_max,
)
from rainbowdp.baselines.truth import (
    propose_test_release,
    randomized_response,
)

__all__ = [
    "Baseline",
    "exponential",
    "inverse_sensitivity",
    "joint_exponential",
    "noise_then_nearest",
    "permute_and_flip",
    "pooled_permute_and_flip",
    "printed_operator",
    "propose_test_release",
    "randomized_response",
    "report_noisy_max",
    "smooth_noisy_max",
]
