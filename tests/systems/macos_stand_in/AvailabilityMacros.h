// In place of macOS's header: Boost asks it for versions of macOS.
#pragma once
