//! The watch: tells the caller of a turn when its engine does not come back.
//!
//! The engine looks at its gate every few thousand steps of JavaScript, but not inside every built-in: some loops in
//! them can be made to run for hours. One thread for all sessions looks at the open turns, and sleeps when there are
//! none. Start reading at [`watch`].

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, Weak};
use std::time::Duration;

use tokio::sync::mpsc::WeakUnboundedSender;

use super::desk::Said;
use super::gate::Gate;

/// Between two looks.
const TICK: Duration = Duration::from_millis(100);

struct Watched {
    gate: Weak<Gate>,
    say: WeakUnboundedSender<Said>,
}

#[derive(Default)]
struct Watch {
    turns: Mutex<Vec<Watched>>,
    more: Condvar,
}

/// Watches a turn until its gate is gone.
pub(super) fn watch(gate: &Arc<Gate>, say: WeakUnboundedSender<Said>) {
    static WATCH: OnceLock<Arc<Watch>> = OnceLock::new();
    let watch = WATCH.get_or_init(|| {
        let watch = Arc::<Watch>::default();
        let looking = watch.clone();
        // Without the thread, code that hangs in a built-in hangs its turn; nothing else depends on it.
        let _ = std::thread::Builder::new().name("antiphon-watch".to_owned()).spawn(move || looking.look());
        watch
    });
    watch.turns().push(Watched { gate: Arc::downgrade(gate), say });
    watch.more.notify_one();
}

impl Watch {
    fn turns(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.turns.lock().expect("nothing panics on the watch")
    }

    fn look(&self) {
        loop {
            let open = self
                .more
                .wait_while(self.turns(), |turns| turns.is_empty())
                .expect("nothing panics on the watch");
            drop(open);
            std::thread::sleep(TICK);
            self.turns().retain(Watched::goes_on);
        }
    }
}

impl Watched {
    /// Whether it has to be looked at again.
    fn goes_on(&self) -> bool {
        let (Some(gate), Some(say)) = (self.gate.upgrade(), self.say.upgrade()) else {
            return false;
        };
        if gate.over() {
            return false;
        }
        if gate.stuck() {
            let _ = say.send(Said::Stuck);
            return false;
        }
        true
    }
}
