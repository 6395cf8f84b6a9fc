//! A tier as one list of features: what the processor is asked for is what its functions are compiled for.

/// Defines a type that proves that the processor has some features, and methods of it that are compiled for them.
///
/// The list stands once. So code for a feature that nobody looked for cannot be called, and this is the one place where
/// functions of a tier are called by code that is compiled for every processor.
macro_rules! tier {
    (
        $(#[$meta:meta])*
        $tier:ident: $detected:ident $features:tt;
        $(fn $name:ident $arguments:tt -> $result:ty $body:block)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $tier(());

        impl $tier {
            /// Asks the processor.
            pub(super) fn detect() -> Option<Self> {
                tier!(@has_all $detected $features).then_some($tier(()))
            }

            $(tier! { @function $features fn $name $arguments -> $result $body })*
        }
    };
    (@has_all $detected:ident [$($feature:tt),+ $(,)?]) => {
        true $(&& std::arch::$detected!($feature))+
    };
    (
        @function [$($feature:tt),+ $(,)?]
        fn $name:ident($($argument:ident: $of:ty),*) -> $result:ty $body:block
    ) => {
        #[expect(unsafe_code, reason = "the call into code for this processor")]
        pub(super) fn $name(self, $($argument: $of),*) -> $result {
            #[target_feature($(enable = $feature),+)]
            fn compiled($($argument: $of),*) -> $result $body

            // SAFETY: this processor has the features that the function is compiled for: `detect` asks for the same ones,
            // and there is no other way to a value of this type.
            unsafe { compiled($($argument),*) }
        }
    };
}

pub(super) use tier;
