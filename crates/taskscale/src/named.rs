//! The names of enum variants, as used in files and records.

/// Implements `name()` by strum's `IntoStaticStr`.
macro_rules! named {
    ($($kind:ty),+) => {
        $(impl $kind {
            pub fn name(self) -> &'static str {
                self.into()
            }
        })+
    };
}
