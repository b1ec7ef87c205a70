// Preprocessed alone, this is the version receipt.
#if !__has_include(<asio/version.hpp>)
#error Asio is not installed: apt install libasio-dev, or https://think-async.com/Asio/
#else
#include <asio/version.hpp>
Asio ASIO_VERSION, g++ __VERSION__
#endif
