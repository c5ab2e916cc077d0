// One source, two libraries: with PAIRBENCH_BOOST it is Boost.Asio, without it
// standalone Asio. Everything else says net:: and error_code.
#pragma once

#include <utility> // Boost 1.74's asio/awaitable.hpp uses std::exchange without it

#ifdef PAIRBENCH_BOOST

#include <boost/asio.hpp>
#include <boost/version.hpp>

namespace pairbench {
namespace net = boost::asio;
using error_code = boost::system::error_code;
inline constexpr const char *driver_name = "asio_boost";
inline constexpr int asio_version = BOOST_ASIO_VERSION;
} // namespace pairbench

#else

#include <asio.hpp>

namespace pairbench {
namespace net = asio;
using error_code = std::error_code;
inline constexpr const char *driver_name = "asio_standalone";
inline constexpr int asio_version = ASIO_VERSION;
} // namespace pairbench

#endif
