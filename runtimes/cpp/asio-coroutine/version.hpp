// Preprocessed alone, this is the version receipt.
#if !__has_include(<asio/version.hpp>)
#error Asio is not installed
#else
#include <asio/version.hpp>
#if __has_include(<boost/version.hpp>)
#include <boost/version.hpp>
Asio ASIO_VERSION, Boost BOOST_LIB_VERSION, g++ __VERSION__
#else
Asio ASIO_VERSION, g++ __VERSION__
#endif
#endif
