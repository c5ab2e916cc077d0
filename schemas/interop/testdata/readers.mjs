// Reads every table with hyparquet, a Parquet reader in JavaScript, and compares
// names, types, nulls and values with those of pairbench's own reader.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [modules, file] = process.argv.slice(2)
const require = createRequire(pathToFileURL(modules + '/'))
const load = name => import(pathToFileURL(require.resolve(modules + '/' + name)).href)
const { parquetReadObjects, parquetMetadata, parquetSchema } = await load('hyparquet')
const { compressors } = await load('hyparquet-compressors')

let failures = 0
const fail = (...words) => { if (++failures <= 20) console.log('FAIL', ...words) }

const physical = {
  int32: 'INT32', int64: 'INT64', double: 'DOUBLE', boolean: 'BOOLEAN',
  string: 'BYTE_ARRAY', binary: 'BYTE_ARRAY', timestamp_us_utc: 'INT64',
}

const bits = new DataView(new ArrayBuffer(8))
function plain(v, type) {
  if (v === null || v === undefined) return null
  switch (type) {
    case 'int32': return String(v)
    case 'int64': return typeof v === 'bigint' ? String(v) : 'not a bigint: ' + v
    case 'double': bits.setFloat64(0, v); return bits.getBigUint64(0).toString(16).padStart(16, '0')
    case 'binary': return Buffer.from(v).toString('hex')
    case 'timestamp_us_utc': return String(v)
    default: return v
  }
}

const tables = JSON.parse(readFileSync(file, 'utf8'))
for (const table of tables) {
  const got = []
  for (const path of table.files) {
    const bytes = readFileSync(path)
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
    const metadata = parquetMetadata(buffer)
    const leaves = new Map(parquetSchema(metadata).children.map(c => [c.element.name, c.element]))
    if (leaves.size !== table.columns.length) fail(path, 'has', leaves.size, 'columns, want', table.columns.length)
    for (const c of table.columns) {
      const leaf = leaves.get(c.name)
      if (!leaf) { fail(path, 'has no', c.name); continue }
      if (leaf.type !== physical[c.type]) fail(path, c.name, 'is', leaf.type, 'want', physical[c.type])
      if (c.type === 'string' && leaf.converted_type !== 'UTF8' && leaf.logical_type?.type !== 'STRING') fail(path, c.name, 'is not marked as text')
      if (c.type === 'timestamp_us_utc' && !(leaf.logical_type?.unit === 'MICROS' && leaf.logical_type.isAdjustedToUTC)) fail(path, c.name, 'is not in microseconds UTC')
    }
    // utf8: false keeps bytes that are not marked as text; timestamps stay numbers.
    const parsers = { timestampFromMicroseconds: v => v }
    got.push(...await parquetReadObjects({ file: buffer, metadata, compressors, utf8: false, parsers }))
  }
  let rows = got.map(r => table.columns.map(c => plain(r[c.name], c.type)))
  let want = table.rows
  if (table.sort_by) {
    const order = (a, b) => a[0] - b[0] || a[1] - b[1]
    rows = rows.sort(order)
    want = want.sort(order)
  }
  if (rows.length !== want.length) { fail(table.files[0], rows.length, 'rows, want', want.length); continue }
  rows.forEach((row, i) => row.forEach((v, k) => {
    if (v !== want[i][k]) fail(table.files[0], 'row', i, table.columns[k].name, 'is', v, 'want', want[i][k])
  }))
}
console.log(tables.length, 'tables,', failures, 'failures')
process.exit(failures > 0 ? 1 : 0)
