// Matrices of a fixed size: templates of functions, and loops that are unrolled.
#pragma once
#include "list.h"

template <class T, int N> struct Matrix {
    T cells[N][N];

    Matrix operator*(const Matrix &other) const {
        Matrix product{};
        for (int row = 0; row < N; ++row)
            for (int column = 0; column < N; ++column)
                for (int at = 0; at < N; ++at)
                    product.cells[row][column] += cells[row][at] * other.cells[at][column];
        return product;
    }

    template <class U> Matrix<U, N> as() const {
        Matrix<U, N> converted{};
        for (int row = 0; row < N; ++row)
            for (int column = 0; column < N; ++column)
                converted.cells[row][column] = U(cells[row][column]);
        return converted;
    }
};

template <class T, int N> T trace(const Matrix<T, N> &matrix) {
    if constexpr (N == 0) {
        return T();
    } else {
        T sum = matrix.cells[N - 1][N - 1];
        Matrix<T, N - 1> rest{};
        for (int row = 0; row < N - 1; ++row)
            for (int column = 0; column < N - 1; ++column)
                rest.cells[row][column] = matrix.cells[row][column];
        return sum + trace(rest);
    }
}

template <class T> T power(Matrix<T, 8> matrix, unsigned exponent) {
    Matrix<T, 8> result = matrix;
    while (exponent--)
        result = result * matrix;
    return trace(result);
}

static_assert(Sum<Numbers<24>::type>::value == 300);
