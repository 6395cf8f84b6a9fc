//! A macro that detects the features of a tier, and compiles functions for the same features.

/// Defines a type whose values prove that the processor has `$features`, and methods of that type
/// that are compiled for `$features`. The second form adds methods in another module.
///
/// A tier passes one list to both forms, so code for a feature that was not detected cannot be
/// called. Only this macro calls functions of a tier from portable code.
macro_rules! tier {
    (
        $features:tt
        $(#[$meta:meta])*
        struct $tier:ident: $detected:ident;
        $($functions:tt)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $tier(());

        impl $tier {
            /// Returns a value if the processor has the features.
            pub(super) fn detect() -> Option<Self> {
                $crate::simd::tier::tier!(@has_all $detected $features).then_some($tier(()))
            }
        }

        $crate::simd::tier::tier! { $features impl $tier; $($functions)* }
    };
    (
        $features:tt
        impl $tier:ident;
        $(
            fn $name:ident $(<$generic:ident: $bound:path>)? ($($arguments:tt)*) -> $result:ty
            $body:block
        )*
    ) => {
        impl $tier {
            $($crate::simd::tier::tier! {
                @function $features
                fn $name [$($generic: $bound)?] ($($arguments)*) -> $result $body
            })*
        }
    };
    (@has_all $detected:ident [$($feature:tt),+ $(,)?]) => {
        true $(&& std::arch::$detected!($feature))+
    };
    (
        @function [$($feature:tt),+ $(,)?]
        fn $name:ident [$($generics:tt)*] ($($argument:ident: $of:ty),*) -> $result:ty $body:block
    ) => {
        #[expect(unsafe_code, reason = "the call into code for this processor")]
        pub(super) fn $name<$($generics)*>(self, $($argument: $of),*) -> $result {
            #[target_feature($(enable = $feature),+)]
            fn compiled<$($generics)*>($($argument: $of),*) -> $result $body

            // SAFETY: this processor has the features that the function is compiled for: only
            // `detect` creates values of this type, and it checks for the same features.
            unsafe { compiled($($argument),*) }
        }
    };
}

pub(super) use tier;
