// Preprocessed alone, this is the version receipt.
#if !__has_include(<asio/version.hpp>)
#error Asio is not installed
#else
#include <asio/version.hpp>
Asio ASIO_VERSION, g++ __VERSION__
#endif
