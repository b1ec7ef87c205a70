// Preprocessed alone, this is the version receipt.
#if !__has_include(<uv.h>)
#error libuv is not installed
#else
#include <uv/version.h>
libuv UV_VERSION_MAJOR.UV_VERSION_MINOR.UV_VERSION_PATCH, gcc __VERSION__
#endif
