// The hop as a GPU runs it, KERNEL: of one parity or of both (PLAQ_SPEC_HopArgs_parity).
#include "host_gpu.h"
#include "wilson.h"
namespace PLAQ_NS {
PLAQ_BLOCK_KERNEL(KERNEL, 1, HopArgs, PLAQ_BODY(Hop<1, STORAGE, R12>))
}
