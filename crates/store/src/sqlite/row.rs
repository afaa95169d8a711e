//! Values in rows: positions, hashes and lines, and what to make of others that stand in their place.

use antiphon_port::Hash;
use rusqlite::Row;
use rusqlite::types::{FromSqlError, Type, ValueRef};

use crate::record;

/// A position as SQLite has numbers; beyond all of them if it is larger.
pub(super) fn int(position: u64) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

/// A position.
pub(super) fn position(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(index)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, value))
}

/// The lines of a record, however they are kept.
pub(super) fn lines(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    let ValueRef::Blob(packed) = row.get_ref(index)? else {
        return row.get(index);
    };
    let wrong = || FromSqlError::Other("they are not as they were packed".into());
    record::unpack(packed)
        .ok_or_else(|| rusqlite::Error::FromSqlConversionFailure(index, Type::Blob, Box::new(wrong())))
}

/// A hash.
pub(super) fn hash(row: &Row<'_>, index: usize) -> rusqlite::Result<Hash> {
    let bytes = row.get_ref(index)?.as_blob()?;
    let wrong = || FromSqlError::InvalidBlobSize { expected_size: 32, blob_size: bytes.len() };
    let hash = bytes
        .try_into()
        .map_err(|_| rusqlite::Error::FromSqlConversionFailure(index, Type::Blob, Box::new(wrong())))?;
    Ok(Hash(hash))
}
