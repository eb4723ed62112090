// Fills the index of a table with keys of four kinds, in PostgreSQL compiled to WebAssembly (PGlite), and measures WAL
// and pages. This module is the page's script, its worker, and a Node.js program:
//   node build/playground.mjs serve [PORT]          serves the build folder
//   node build/playground.mjs measure [SETTINGS]    prints the measurements as JSON
//   node build/playground.mjs sql [SETTINGS]        prints the statements, for psql on a server
// SETTINGS are written as in a link to the page: 'minute=200&rows=100000&checkpoint=5&years=1'.

const keys = ['gen_random_uuid', 'uuid_v7', 'short_comb', 'keyed_comb']
// With a clock, a prefix of keyed_comb() lasts for a twelfth of the period. This period makes it last as long as
// without a clock.
const period = (minute) => 12 * Math.floor(60e3 * Math.min(60, Math.max(5, 512 / minute), 65504 / minute))
const call = (key, minute) => key === 'gen_random_uuid' ? `${key}()`
  : `idgen.${key}(${key === 'keyed_comb' ? `'orders', period => '${period(minute)} ms', ` : ''}clock => clock)`
const defaults = {
  sql: 'CREATE TABLE orders (\n  id uuid PRIMARY KEY,\n  customer_id bigint NOT NULL,\n  note text\n);',
  minute: '200', rows: '100000', checkpoint: '5', years: '1',
}

// Choose the minutes to fill. The two bytes of a short COMB restart after a cycle of 65,536 minutes, and only keys of
// the same minutes share pages. Therefore, only the same few minutes of each cycle are filled. In the last cycle, the
// first half of them is filled, and the minutes after that are measured.
function plan(minute, rows, checkpoint, years) {
  const cycles = Math.floor(years * 525960 / 65536) + 1
  const least = minute * checkpoint * (2 * cycles - 1)
  if (!(rows >= least)) throw new Error(`at least ${least} rows must be loaded at that age, rate and distance of checkpoints`)
  const filled = Math.floor(rows / minute / (cycles - 0.5))
  const loaded = (cycles - 1) * filled + Math.floor(filled / 2)
  const intervals = Math.min(3, Math.floor((filled * cycles - loaded) / checkpoint))
  return { filled, loaded: loaded * minute, intervals, total: (loaded + intervals * checkpoint) * minute }
}

// Return a DO statement that prepares the INSERT of rows $1 to $2 - 1. Columns without a default get a value of their
// type.
const prepare = (key, minute, filled) => `DO $do$ DECLARE chosen record; columns record; BEGIN
  SELECT conrelid::regclass AS table, conindid::regclass AS index, conkey[1] AS number, fits INTO chosen
  FROM pg_constraint, LATERAL (SELECT cardinality(conkey) = 1 AND atttypid = 'uuid'::regtype AS fits
                               FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1]) a
  WHERE connamespace = 'playground'::regnamespace AND contype = 'p' ORDER BY fits DESC, conrelid LIMIT 1;
  IF NOT FOUND THEN RAISE EXCEPTION 'no table with a primary key' USING HINT = 'Do not name a schema in CREATE TABLE.'; END IF;
  IF NOT chosen.fits THEN RAISE EXCEPTION 'the primary key of table "%" is not a single column of type uuid', chosen.table; END IF;
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS names,
         string_agg(coalesce(value, 'NULL'), ', ' ORDER BY attnum) AS values,
         string_agg(format('%I %s', attname, type), ', ') FILTER (WHERE value IS NULL AND (attnotnull OR typnotnull)) AS lacking
  INTO columns
  FROM pg_attribute JOIN pg_type t ON t.oid = atttypid, format_type(atttypid, atttypmod) type,
       LATERAL (SELECT CASE WHEN attnum = chosen.number THEN $key$${call(key, minute)}$key$
      WHEN typname = 'uuid' THEN 'gen_random_uuid()'
      WHEN typname IN ('json', 'jsonb') THEN format('jsonb_build_object(''n'', i)::%s', type)
      WHEN typcategory = 'N' AND atttypmod = -1 AND typname <> 'int2' THEN format('i::%s', type)
      WHEN typcategory = 'N' THEN format('(i %% 10)::%s', type)
      WHEN typcategory = 'S' THEN format('md5(i::text)::%s', type)
      WHEN typcategory = 'D' THEN format('clock::%s', type)
      WHEN typcategory = 'E' THEN format('enum_first(NULL::%s)', type)
      WHEN typcategory = 'B' THEN 'i % 2 = 0'
      WHEN typcategory = 'A' THEN format('''{}''::%s', type) END AS value) v
  WHERE attrelid = chosen.table AND attnum > 0 AND NOT attisdropped
    AND (attnum = chosen.number OR NOT atthasdef AND attidentity = '');
  IF columns.lacking IS NOT NULL THEN RAISE EXCEPTION 'no value for the NOT NULL columns: %', columns.lacking
    USING HINT = 'Give them a DEFAULT.'; END IF;
  PERFORM set_config('playground.index', chosen.index::text, false);
  EXECUTE format('PREPARE fill(int, int) AS INSERT INTO %s (%s) SELECT %s FROM (
      SELECT i, timestamptz ''2020-01-01 00:00:00+00'' + (i / ${minute} / ${filled} * 65536 + i / ${minute} %% ${filled}) * interval ''1 minute''
                + i %% ${minute} * interval ''60 s'' / ${minute} AS clock
      FROM generate_series($1, $2 - 1) i OFFSET 0) r', chosen.table, columns.names, columns.values);
END $do$`

// A setting of the session stores the position from which WAL is counted, so that the statements run on any server.
const since = "current_setting('playground.lsn')::pg_lsn"
const mark = "SELECT set_config('playground.lsn', pg_current_wal_insert_lsn()::text, false)"
const written = (rows) => `SELECT (pg_current_wal_insert_lsn() - ${since}) / ${rows} AS wal`
const blocks = `pg_get_wal_block_info(${since}, pg_current_wal_flush_lsn(), false)`
const imaged = `SELECT coalesce(sum(block_fpi_length), 0)::int AS bytes FROM ${blocks}`
const index = "current_setting('playground.index')::regclass"
// The leaf pages on which rows were inserted. A record with a fourth block splits a page above the leaf level.
const touched = `SELECT page::int, count(*)::int AS rows
  FROM (SELECT min(relblocknumber) FILTER (WHERE block_id = 0) AS page FROM ${blocks}
        WHERE relfilenode = pg_relation_filenode(${index}) AND record_type ~ '^(INSERT_LEAF|SPLIT)'
        GROUP BY start_lsn HAVING max(block_id) < 3) r
  GROUP BY page`
const sizes = `SELECT pg_relation_size(${index})::int AS size, count(*) FILTER (WHERE type = 'l')::int AS leaves
  FROM generate_series(1, pg_relation_size(${index}) / 8192 - 1) p, bt_page_stats(${index}::text, p)`

// Yield the progress and the measurements of each key. db.look() executes queries that only read, with functions of
// pageinspect or pg_walinspect.
async function * measure(db, settings) {
  const { sql, ...given } = { ...defaults, ...settings }
  const [minute, rows, checkpoint, years] = ['minute', 'rows', 'checkpoint', 'years'].map((name) => Number(given[name]))
  const { filled, loaded, intervals, total } = plan(minute, rows, checkpoint, years)
  const [step, perInterval] = [Math.ceil(loaded / 100), minute * checkpoint]

  for (const key of keys) {
    await db.exec('ROLLBACK; RESET ALL; DEALLOCATE ALL; DROP SCHEMA IF EXISTS playground CASCADE; '
      + 'CREATE SCHEMA playground; SET search_path = playground, public')
    await db.exec(sql)
    await db.exec(prepare(key, minute, filled))
    for (let from = 0; from < loaded; from += step) {
      const to = Math.min(from + step, loaded)
      await db.exec(`${mark}; EXECUTE fill(${from}, ${to})`)
      yield { key, from, to, total, pages: await db.look(touched) }
    }
    let [wal, images, pages] = [0, 0, 0]
    for (let from = loaded; from < total; from += perInterval) {
      await db.exec(`CHECKPOINT; ${mark}`)
      for (let at = from; at < from + perInterval; at += minute) await db.exec(`EXECUTE fill(${at}, ${at + minute})`)
      wal += (await db.exec(written(perInterval)))?.wal / intervals
      images += (await db.look(imaged))[0]?.bytes / perInterval / intervals
      const touching = await db.look(touched)
      pages += touching.length / intervals
      yield { key, from, to: from + perInterval, total, pages: touching, measured: true }
    }
    yield { key, rows: total, perInterval, wal, images, pages, ...(await db.look(sizes))[0] }
  }
}

async function open() {
  const [{ PGlite }, { pageinspect }, { pg_walinspect }] = await Promise.all(
    ['index', 'contrib/pageinspect', 'contrib/pg_walinspect'].map((name) => import(`./pglite/${name}.js`)))
  const file = new URL('uuids.sql', import.meta.url)
  const text = inNode ? await (await import('node:fs/promises')).readFile(file, 'utf8') : await (await fetch(file)).text()
  const pg = await PGlite.create({ extensions: { pageinspect, pg_walinspect } })
  await pg.exec(`${text}; CREATE EXTENSION pageinspect; CREATE EXTENSION pg_walinspect`)
  const look = async (sql) => (await pg.query(sql)).rows
  const [{ server_version: version }] = await look('SHOW server_version')
  return { version, look, exec: async (sql) => (await pg.exec(sql)).at(-1)?.rows[0] }
}

// Format an error as psql does.
const message = (error) => (error.severity ? `${error.severity}:  ${error.message} (SQLSTATE ${error.code})` : error.message)
  + ['detail', 'hint', 'position', 'where'].map((part) => error[part] ? `\n${part.toUpperCase()}:  ${error[part]}` : '').join('')

// ---- The worker, which receives settings and sends events ----
function work() {
  const opened = open().then((db) => { postMessage({ ready: `PostgreSQL ${db.version} is ready.` }); return db })
  onunhandledrejection = ({ reason }) => postMessage({ ended: 'The run ended with an error.', error: message(reason) })
  onmessage = async ({ data }) => {
    const db = await opened
    for await (const event of measure(db, data)) postMessage(event)
    postMessage({ ended: `Measured in this browser by PostgreSQL ${db.version}.` })
  }
}

// ---- The page ----
function page() {
  const at = Object.fromEntries([...document.querySelectorAll('[id]')].map((element) => [element.id, element]))
  const form = document.forms[0]
  const number = (value) => Math.round(value).toLocaleString('en')
  const measures = [
    ['WAL a row', 'wal', (r) => `${number(r.wal)} bytes, ${number(r.images)} of them page images`],
    ['Leaf pages touched between two checkpoints', 'pages', (r) => `${number(r.pages)} of ${number(r.leaves)}`],
    ['Index size', 'size', (r) => `${number(r.size / 1024)} kB`],
  ]
  let worker, drawn = {}, results, isNew
  const settings = () => new URLSearchParams(new FormData(form))

  // Show the link, and an error if there are too few rows.
  function showLink() {
    at.link.hash = settings()
    const numbers = ['minute', 'rows', 'checkpoint', 'years'].map((name) => form.elements[name].valueAsNumber)
    let tooFew = ''
    try { if (numbers.every(Number.isFinite)) plan(...numbers) } catch ({ message }) { tooFew = message }
    form.elements.rows.setCustomValidity(tooFew)
    at.error.textContent = tooFew
  }

  // Enable one button and disable the other, which passes on its focus.
  function setRunning(running, status, error = '') {
    const [from, to] = running ? [at.run, at.stop] : [at.stop, at.run]
    to.disabled = false
    if (document.activeElement === from) to.focus()
    from.disabled = true
    ;[at.status.textContent, at.error.textContent] = [status, error]
  }

  function readLink() {
    const given = new URLSearchParams(location.hash.slice(1))
    for (const [field, value] of Object.entries(defaults)) form.elements[field].value = given.get(field) ?? value
    showLink()
  }

  function draw({ canvas, batches }) {
    const context = canvas.getContext('2d')
    const { color, outlineColor } = getComputedStyle(canvas)
    const height = canvas.height / (1 + Math.max(...batches.map(({ pages }) => Math.max(...pages.map(({ page }) => page)))))
    context.clearRect(0, 0, canvas.width, canvas.height)
    for (const { from, to, total, pages, measured } of batches) {
      context.fillStyle = measured ? outlineColor : color
      for (const { page, rows } of pages) {
        context.globalAlpha = Math.min(1, 0.35 + rows / 60)
        context.fillRect(from / total * canvas.width, canvas.height - (page + 1) * height,
          Math.max((to - from) / total * canvas.width, 1), Math.max(height, 1))
      }
    }
  }

  function figure(key) {
    at.figures.insertAdjacentHTML('beforeend', `<figure><h3>${key}()</h3><canvas width="600" height="220" role="img"
      aria-label="Leaf page over order of inserts, ${key}()"></canvas><figcaption></figcaption></figure>`)
    const [, canvas, caption] = at.figures.lastElementChild.children
    return { canvas, caption, batches: [] }
  }

  const bar = (result, measure, text) => `<tr style="--images: ${measure === 'wal' ? result.images / result.wal * 100 : 0}%;
    --share: ${result[measure] / Math.max(...results.map((r) => r[measure])) * 100}%"><th scope="row">${result.key}()<td>${text(result)}`
  const table = ([title, measure, text]) =>
    `<table><caption>${title}</caption>${results.map((result) => bar(result, measure, text)).join('')}</table>`

  function show(event) {
    const { key, to, total, ready, ended, error } = event
    if (ready) {
      at.status.textContent = ready
    } else if (ended) {
      setRunning(false, ended, error)
    } else if (to) {
      // The table can be filled, so remove the pictures of the previous run.
      if (isNew) {
        ;[drawn, results, isNew] = [{}, [], false]
        for (const filled of [at.figures, at.bars]) filled.replaceChildren()
      }
      (drawn[key] ??= figure(key)).batches.push(event)
      at.progress.value = (Object.keys(drawn).length - 1 + to / total) / keys.length
      at.status.textContent = `${key}(): ${number(to)} of ${number(total)} rows`
      if (!matchMedia('(prefers-reduced-motion: reduce)').matches) draw(drawn[key])
    } else {
      results.push(event)
      const [rows, pages] = [number(event.perInterval), measures[1][2](event)]
      drawn[key].caption.textContent = `The ${rows} rows between two checkpoints went to ${pages} leaf pages.`
      draw(drawn[key])
      at.bars.innerHTML = measures.map(table).join('')
    }
  }

  function startWorker() {
    worker?.terminate()
    worker = new Worker(import.meta.url, { type: 'module' })
    worker.onmessage = ({ target, data }) => { if (target === worker) show(data) }
    worker.onerror = ({ message }) => setRunning(false, 'The run ended with an error.', message || 'The worker could not be loaded.')
  }

  form.onsubmit = (event) => {
    event.preventDefault()
    isNew = true
    history.replaceState(null, '', at.link.href)
    setRunning(true, 'Starting …')
    worker.postMessage(Object.fromEntries(settings()))
  }
  // A statement cannot be interrupted, so terminate its server, and start another one.
  at.stop.onclick = () => { startWorker(); setRunning(false, 'Stopped.') }
  form.oninput = showLink
  onhashchange = readLink
  matchMedia('(prefers-color-scheme: dark)').onchange = () => Object.values(drawn).forEach(draw)
  readLink()
  startWorker()
}

// ---- The Node.js program ----
async function serve(port) {
  const [{ createServer }, { readFile }] = await Promise.all([import('node:http'), import('node:fs/promises')])
  const types = { html: 'text/html', css: 'text/css', mjs: 'text/javascript', js: 'text/javascript', wasm: 'application/wasm' }
  const server = createServer(async ({ url }, response) => {
    const path = new URL(url, 'http://localhost').pathname.replace(/\/$/, '/index.html')
    const content = await readFile(new URL(`.${path}`, import.meta.url)).catch(() => null)
    const type = types[path.split('.').pop()] ?? 'application/octet-stream'
    response.writeHead(content ? 200 : 404, { 'Content-Type': type }).end(content)
  })
  server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`))
}

async function program([command, argument]) {
  if (command === 'serve') return serve(argument ?? 8080)
  if (!['measure', 'sql'].includes(command)) throw new Error('the commands are serve [PORT], measure [SETTINGS] and sql [SETTINGS]')
  const printing = { exec: async (sql) => console.log(`${sql};`), look: async () => [] }
  const events = measure(command === 'sql' ? printing : await open(), Object.fromEntries(new URLSearchParams(argument)))
  for await (const event of events) if (event.size) console.log(JSON.stringify(event))
}

const inNode = typeof process !== 'undefined'
if (typeof document !== 'undefined') page()
else if (!inNode) work()
else program(process.argv.slice(2)).catch((error) => { console.error(message(error)); process.exitCode = 1 })
