//! Large records are kept compressed: writing a byte to a file that is durable costs far more than squeezing it.
//!
//! In: the lines of a record. Out: an LZ4 frame, as any tool can read, or nothing where the lines are better kept as they
//! are. Hashes cover the lines, however they are kept. Start reading at [`pack`].

use std::io::{Read, Write};

use lz4_flex::frame::{BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

use super::RECORD_MAX;

/// How many bytes of lines are worth it; smaller records can be read in the file by anybody who opens it.
const LARGE: usize = 16 * 1024;

/// The lines as they are kept if they are large and become much smaller.
pub(crate) fn pack(lines: &str) -> Option<Vec<u8>> {
    if lines.len() < LARGE {
        return None;
    }
    let info = FrameInfo::new().block_size(BlockSize::Max256KB).content_size(Some(lines.len() as u64));
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(lines.as_bytes()).ok()?;
    let packed = encoder.finish().ok()?;
    (packed.len() < lines.len() / 4 * 3).then_some(packed)
}

/// The lines again; nothing if that is not what [`pack`] made, or more than a record may have.
pub(crate) fn unpack(packed: &[u8]) -> Option<String> {
    let mut lines = Vec::new();
    let mut decoder = FrameDecoder::new(packed).take(RECORD_MAX as u64 + 1);
    decoder.read_to_end(&mut lines).ok()?;
    if lines.len() > RECORD_MAX {
        return None;
    }
    String::from_utf8(lines).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_lines_that_become_much_smaller_are_packed_and_come_back_as_they_were() {
        let small = "x".repeat(LARGE - 1);
        assert_eq!(pack(&small), None);
        let mut noise = 1_u64;
        let random: String = std::iter::repeat_with(|| {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(33 + ((noise >> 33) % 90) as u8)
        })
        .take(LARGE * 4)
        .collect();
        assert_eq!(pack(&random), None, "there is nothing to be had");
        for lines in ["{\"ä\":1}\n".repeat(LARGE), random[..LARGE].repeat(20)] {
            let packed = pack(&lines).expect("it is large, and repeats itself");
            assert!(packed.len() < lines.len() / 2, "{} of {}", packed.len(), lines.len());
            assert_eq!(unpack(&packed).as_deref(), Some(&*lines));
            assert_eq!(unpack(&packed[..packed.len() / 2]), None);
        }
    }

    #[test]
    fn what_was_not_packed_here_is_nothing() {
        for bytes in [&[][..], b"\xff\x00", b"{}\n", &[4; 100]] {
            assert_eq!(unpack(bytes).filter(|lines| !lines.is_empty()), None);
        }
        let mut bomb = FrameEncoder::new(Vec::new());
        let zeros = vec![b'0'; 1 << 20];
        for _ in 0..=RECORD_MAX >> 20 {
            bomb.write_all(&zeros).expect("memory takes it");
        }
        assert_eq!(unpack(&bomb.finish().expect("memory takes it")), None, "more than a record may have");
    }
}
