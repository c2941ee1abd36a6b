// The suite's module with all behaviours in width::lane that do not say otherwise: each lane runs an actor of its own.
#define RONDO_DEFAULT_WIDTH ::rondo::width::lane
#include "tests/conformance/testbed.cu"
