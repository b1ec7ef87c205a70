// Preprocessed alone, this is the version receipt.
#if !__has_include(<boost/fiber/all.hpp>)
#error Boost.Fiber is not installed
#else
#include <boost/version.hpp>
Boost BOOST_LIB_VERSION, g++ __VERSION__
#endif
