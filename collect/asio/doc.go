// Package asio holds no Go code but tests: its folder is the C++ driver, TCP
// echo on Boost.Asio (asio_boost) and on standalone Asio (asio_standalone),
// built from one source by the Makefile here:
//
//	make -C collect/asio          # build/asio_boost, build/asio_standalone
//	make -C collect/asio install  # into bin/, beside pbdriver
//
// It needs g++ 12 or later and the Debian packages libboost-dev and libasio-dev.
//
// The driver speaks the driver protocol. Its arms are callback (completion
// functions) and coroutine (C++20 co_await), both sides of every connection on
// one io_context that all worker threads run. Factors, counts, samples and
// errors mean what they mean in package echo.
package asio
