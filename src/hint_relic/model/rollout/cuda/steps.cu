// All steps that a network takes on a sample, as one kernel; and their derivatives, as another.
//
// One block runs one sample: for each step the processor (`model/process.py`), the decoders of hints
// (`model/decode.py`) and what is fed back (`model/feedback.py`), for the sample's own nodes and its
// own number of steps. Everything over pairs of nodes stays in shared memory. What the derivatives
// need and can't be made again for less is written down for each step.
//
// Encoders are part of the layers that read them (as in `Together`), and constants of layers over
// edges part of those over nodes: `weights.py` puts all this together. Derivatives by weights over
// pairs are added up here (`sums`); those by weights over nodes are products of what is written
// down, which the caller makes of all steps and samples at once (`op.py`).
#include "forward.h"
#include "backward.h"
#include "compare.h"
