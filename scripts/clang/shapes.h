// Uses the matrices, and is included by all: what makes a header dear.
#pragma once
#include "matrix.hpp"

struct Shape {
    Matrix<double, 4> place;
    virtual ~Shape() {}
    virtual double area() const = 0;
};

template <int Corners> struct Polygon : Shape {
    double points[Corners][2];
    double area() const override {
        double sum = trace(place);
        for (int at = 0; at < Corners; ++at) {
            const double *a = points[at], *b = points[(at + 1) % Corners];
            sum += a[0] * b[1] - b[0] * a[1];
        }
        return sum / 2;
    }
};

static_assert(Sum<Numbers<40>::type>::value == 820);
