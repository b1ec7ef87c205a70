//! Enums whose variants have names, as files and records have them.

/// `name`, by strum's `IntoStaticStr`.
macro_rules! named {
    ($($kind:ty),+) => {
        $(impl $kind {
            pub fn name(self) -> &'static str {
                self.into()
            }
        })+
    };
}
