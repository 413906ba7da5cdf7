/* SPDX-License-Identifier: BSD-3-Clause */
/* The sanitizer that this file is compiled with. gcc defines a macro, clang a feature. */
#ifndef PS_TESTS_SANITIZER_H
#define PS_TESTS_SANITIZER_H

#ifdef __has_feature
#define PS_TEST_HAS_FEATURE(name) __has_feature(name)
#else
#define PS_TEST_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || PS_TEST_HAS_FEATURE(thread_sanitizer)
#define PS_TEST_HAS_THREAD_SANITIZER 1
#else
#define PS_TEST_HAS_THREAD_SANITIZER 0
#endif

#if defined(__SANITIZE_ADDRESS__) || PS_TEST_HAS_FEATURE(address_sanitizer)
#define PS_TEST_HAS_ADDRESS_SANITIZER 1
#else
#define PS_TEST_HAS_ADDRESS_SANITIZER 0
#endif

#define PS_TEST_HAS_SANITIZER (PS_TEST_HAS_THREAD_SANITIZER || PS_TEST_HAS_ADDRESS_SANITIZER)

#endif
