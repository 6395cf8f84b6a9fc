// Lists of types, worked on by recursion: what makes templates slow.
#pragma once

template <class... Ts> struct List {};

template <class L, class T> struct Push;
template <class... Ts, class T> struct Push<List<Ts...>, T> { using type = List<Ts..., T>; };

template <int N> struct Number { static constexpr int value = N; };

template <int N> struct Numbers { using type = typename Push<typename Numbers<N - 1>::type, Number<N>>::type; };
template <> struct Numbers<0> { using type = List<>; };

template <class L> struct Sum;
template <> struct Sum<List<>> { static constexpr int value = 0; };
template <class T, class... Ts> struct Sum<List<T, Ts...>> {
    static constexpr int value = T::value + Sum<List<Ts...>>::value;
};
