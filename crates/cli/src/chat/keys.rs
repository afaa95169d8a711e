//! The keyboard: [`Keys`] one by one without Enter, and [`Quiet`], which keeps what is typed off the screen.
//!
//! Both put the terminal back as it was when they are dropped, whatever happens.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

/// How often it is looked whether keys are still wanted.
const LOOK: Duration = Duration::from_millis(50);

/// A key, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A character.
    Letter(char),
    /// Ctrl-C, Ctrl-D, or Escape.
    Leave,
}

/// Keys as they are pressed.
pub(super) struct Keys {
    pressed: mpsc::Receiver<Key>,
    is_wanted: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keys {
    /// Listens to the keyboard.
    pub(super) fn listen() -> io::Result<Self> {
        enable_raw_mode()?;
        let (sender, pressed) = mpsc::channel(16);
        let is_wanted = Arc::new(AtomicBool::new(true));
        let wanted = Arc::clone(&is_wanted);
        let thread = std::thread::spawn(move || {
            while wanted.load(Ordering::Relaxed) {
                let Ok(key) = next() else { break };
                if key.is_some_and(|key| sender.blocking_send(key).is_err()) {
                    break;
                }
            }
        });
        Ok(Self { pressed, is_wanted, thread: Some(thread) })
    }

    /// The next key; none if there is no keyboard any more.
    pub(super) async fn next(&mut self) -> Option<Key> {
        self.pressed.recv().await
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::Relaxed);
        self.pressed.close();
        // A thread that panicked reads no keys either.
        let _ = self.thread.take().map(JoinHandle::join);
        let _ = disable_raw_mode();
    }
}

/// A key, if one is pressed within a moment.
fn next() -> io::Result<Option<Key>> {
    if !event::poll(LOOK)? {
        return Ok(None);
    }
    let Event::Key(key) = event::read()? else { return Ok(None) };
    if key.kind == KeyEventKind::Release {
        return Ok(None);
    }
    Ok(match key.code {
        KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Leave),
        KeyCode::Char(c) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
            Some(Key::Letter(c))
        }
        KeyCode::Esc => Some(Key::Leave),
        _ => None,
    })
}

/// While it lasts, what is typed does not show, and waits to be read.
pub(super) struct Quiet(Option<Termios>);

impl Quiet {
    /// Keeps what is typed off the screen, if there is a terminal.
    pub(super) fn begin() -> Self {
        let Ok(before) = tcgetattr(io::stdin()) else { return Self(None) };
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO);
        let set = tcsetattr(io::stdin(), SetArg::TCSANOW, &quiet);
        Self(set.is_ok().then_some(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // A terminal that is gone needs nothing.
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        }
    }
}
