import { createHash } from 'node:crypto';

/**
 * Everything that must be atomic in the store, as Lua: a server runs one script at a time. KEYS of every script but the probe
 * are session, log, live, live of the tenant, order; ARGV begins with prefix, tenant, id.
 *
 * Keys, below the prefix; T and ID are the names of tenant and session:
 *
 *     session:T:ID   hash   epoch, owner, frame, token, order, base, logged, dropped, mesh, key, seen; and as bytes opening, settings,
 *                           info, head, checkpoint
 *     log:T:ID       list   one entry a frame since the base
 *     mesh:T:HASH    bytes  once per content;   users:T:HASH   set of the sessions that use it
 *     key:T:NAME     hash   id and digest of an idempotency key
 *     live           sorted set of T:ID by the end of the time to live;   live:T   the same of one tenant, ids only
 *     order:T        sorted set of ids by order of creation;   last-order:T   the last order
 */
export interface Script {
  readonly name: string;
  readonly text: string;
  readonly isWrite: boolean;
}

/** bound(mesh, users): both live as long as the last session that uses them. Returns whether there is one. */
const BOUND = `
local prefix, tenant, id = ARGV[1], ARGV[2], ARGV[3]
local function bound(mesh, users)
  local longest = 0
  for _, user in ipairs(redis.call('SMEMBERS', users)) do
    local left = redis.call('PTTL', prefix .. ':session:' .. tenant .. ':' .. user)
    if left == -1 then return true end
    if left == -2 then redis.call('SREM', users, user) end
    if left > longest then longest = left end
  end
  if longest == 0 then return false end
  for _, key in ipairs({mesh, users}) do redis.call('PEXPIRE', key, longest) end
  return true
end
`;

/** ms that a mesh which no session uses yet is kept */
const MESH_WAITS_MS = 60_000;

/**
 * touch(ttl): restarts the time to live of the session and of the keys that only it needs. use(hash): notes that the
 * session uses a mesh, and returns whether there is such a mesh.
 */
const TOUCH = `${BOUND}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function touch(ttl)
  local fields = redis.call('HMGET', KEYS[1], 'mesh', 'key')
  local own = {KEYS[1], KEYS[2]}
  if fields[2] then own[3] = prefix .. ':key:' .. tenant .. ':' .. fields[2] end
  local mesh, users = prefix .. ':mesh:' .. tenant .. ':' .. fields[1], prefix .. ':users:' .. tenant .. ':' .. fields[1]
  local shared = {mesh, users}
  local ends = '+inf'
  local lasted = redis.call('PTTL', KEYS[1]) == -1
  if ttl > 0 then
    ends = now + ttl
    for _, key in ipairs(own) do redis.call('PEXPIRE', key, ttl) end
    for _, key in ipairs(shared) do
      local left = redis.call('PTTL', key)
      if left ~= -1 and left < ttl then redis.call('PEXPIRE', key, ttl) end
    end
    if lasted and redis.call('PTTL', mesh) == -1 then bound(mesh, users) end
  else
    for _, key in ipairs(own) do redis.call('PERSIST', key) end
    for _, key in ipairs(shared) do redis.call('PERSIST', key) end
  end
  redis.call('ZADD', KEYS[3], ends, tenant .. ':' .. id)
  redis.call('ZADD', KEYS[4], ends, id)
end
local function use(hash)
  local mesh, users = prefix .. ':mesh:' .. tenant .. ':' .. hash, prefix .. ':users:' .. tenant .. ':' .. hash
  if redis.call('EXISTS', mesh) == 0 then return false end
  if redis.call('SADD', users, id) == 1 and redis.call('PTTL', users) == -1 and redis.call('PTTL', mesh) ~= -1 then
    redis.call('PEXPIRE', users, ${MESH_WAITS_MS})
  end
  return true
end
`;

/**
 * Tests whether the store does what the other scripts need: it runs scripts, writes, and accepts keys of several slots,
 * which a cluster does not. KEYS: what is written, and another key.
 */
export const PROBE: Script = {
  name: 'probe',
  isWrite: true,
  text: `
redis.call('SET', KEYS[1], '1', 'PX', 60000)
return 'stored'`,
};

/** ARGV from 4: ttl, most sessions, most of the tenant, name of the key or '', digest, hash, opening, settings, info, owner. */
export const CREATE: Script = {
  name: 'create',
  isWrite: true,
  text: `${TOUCH}
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', '(' .. now)
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', '(' .. now)
local named = prefix .. ':key:' .. tenant .. ':' .. ARGV[7]
if ARGV[7] ~= '' then
  local known = redis.call('HMGET', named, 'id', 'digest')
  if known[1] then return {'exists', known[1], known[2]} end
end
if redis.call('EXISTS', KEYS[1]) == 1 then
  local fields = redis.call('HMGET', KEYS[1], 'order', 'epoch')
  return {'created', tonumber(fields[1])}
end
local own = redis.call('ZCARD', KEYS[4])
if own >= tonumber(ARGV[6]) then return {'full', 'tenant', own} end
local all = redis.call('ZCARD', KEYS[3])
if all >= tonumber(ARGV[5]) then return {'full', 'all', all} end
if not use(ARGV[9]) then return {'mesh'} end
local order = redis.call('INCR', prefix .. ':last-order:' .. tenant)
redis.call('HSET', KEYS[1], 'epoch', 1, 'frame', '0', 'token', '', 'order', order, 'base', 'opening', 'logged', 0, 'dropped', 0,
  'mesh', ARGV[9], 'opening', ARGV[10], 'settings', ARGV[11], 'info', ARGV[12], 'owner', ARGV[13], 'seen', now)
if ARGV[7] ~= '' then
  redis.call('HSET', KEYS[1], 'key', ARGV[7])
  redis.call('HSET', named, 'id', id, 'digest', ARGV[8])
end
redis.call('ZADD', KEYS[5], order, id)
touch(tonumber(ARGV[4]))
return {'created', order}`,
};

/**
 * ARGV from 4: owner, least ms, bytes per ms. Returns nil, or epoch and bytes of the session (at least), for {@link
 * READ}. It then lives at least for the least ms and the time that reading its bytes may take.
 */
export const CLAIM: Script = {
  name: 'claim',
  isWrite: true,
  text: `${TOUCH}
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local epoch = redis.call('HINCRBY', KEYS[1], 'epoch', 1)
redis.call('HSET', KEYS[1], 'owner', ARGV[4])
local bytes = redis.call('STRLEN', prefix .. ':mesh:' .. tenant .. ':' .. redis.call('HGET', KEYS[1], 'mesh'))
for _, field in ipairs({'opening', 'settings', 'info', 'head', 'checkpoint'}) do
  bytes = bytes + redis.call('HSTRLEN', KEYS[1], field)
end
-- The log may be large, so it is measured and not read. A server may forbid that.
local log = redis.pcall('MEMORY', 'USAGE', KEYS[2], 'SAMPLES', '0')
if type(log) == 'table' then
  log = 0
  for _, entry in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do log = log + #entry end
end
bytes = bytes + (log or 0)
local least = math.ceil(tonumber(ARGV[5]) + bytes / tonumber(ARGV[6]))
local left = redis.call('PTTL', KEYS[1])
if left ~= -1 and left < least then touch(least) end
return {epoch, bytes}`,
};

/** Returns nil, or the fields of the session, its mesh and its log, and name and digest of its key or nil. */
export const READ: Script = {
  name: 'read',
  isWrite: false,
  text: `
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local f = redis.call('HMGET', KEYS[1], 'frame', 'token', 'order', 'base', 'logged', 'mesh', 'opening', 'settings', 'info', 'head', 'checkpoint', 'key')
local mesh = redis.call('GET', ARGV[1] .. ':mesh:' .. ARGV[2] .. ':' .. f[6])
local digest = f[12] and redis.call('HGET', ARGV[1] .. ':key:' .. ARGV[2] .. ':' .. f[12], 'digest')
return {f[1], f[2], tonumber(f[3]), f[4], tonumber(f[5]), f[7], f[8], f[9], f[10], f[11], mesh, redis.call('LRANGE', KEYS[2], 0, -1), f[12], digest}`,
};

/** ARGV from 4: hash, mesh. Stores the mesh for a minute, for the session that is written next. */
export const PUT_MESH: Script = {
  name: 'mesh',
  isWrite: true,
  text: `
local mesh = ARGV[1] .. ':mesh:' .. ARGV[2] .. ':' .. ARGV[4]
if redis.call('EXISTS', mesh) == 0 then redis.call('SET', mesh, ARGV[5], 'PX', ${MESH_WAITS_MS}) end
local left = redis.call('PTTL', mesh)
if left ~= -1 and left < ${MESH_WAITS_MS} then redis.call('PEXPIRE', mesh, ${MESH_WAITS_MS}) end
return 'stored'`,
};

/** ARGV from 4: ttl, epoch, from, frame, token, most entries, head, info, entry. */
export const COMMIT: Script = {
  name: 'commit',
  isWrite: true,
  text: `${TOUCH}
local now_at = redis.call('HMGET', KEYS[1], 'epoch', 'frame', 'token')
if not now_at[1] then return 'gone' end
if now_at[1] ~= ARGV[5] then return 'fenced' end
if now_at[2] == ARGV[7] and now_at[3] == ARGV[8] then return 'stored' end
if now_at[2] ~= ARGV[6] then return 'fenced' end
redis.call('HSET', KEYS[1], 'frame', ARGV[7], 'token', ARGV[8], 'head', ARGV[10], 'info', ARGV[11], 'seen', now)
redis.call('HINCRBY', KEYS[1], 'logged', 1)
if redis.call('RPUSH', KEYS[2], ARGV[12]) > tonumber(ARGV[9]) then
  redis.call('HINCRBY', KEYS[1], 'dropped', redis.call('LLEN', KEYS[2]) - 1)
  redis.call('LTRIM', KEYS[2], -1, -1)
  redis.call('HSET', KEYS[1], 'base', 'lost')
  redis.call('HDEL', KEYS[1], 'checkpoint')
end
touch(tonumber(ARGV[4]))
return 'stored'`,
};

/** ARGV from 4: epoch, logged, checkpoint. */
export const CHECKPOINT: Script = {
  name: 'checkpoint',
  isWrite: true,
  text: `
local at = redis.call('HMGET', KEYS[1], 'epoch', 'dropped')
if not at[1] then return 'gone' end
if at[1] ~= ARGV[4] then return 'fenced' end
local drop = tonumber(ARGV[5]) - tonumber(at[2])
if drop < 0 then return 'stored' end
redis.call('HSET', KEYS[1], 'checkpoint', ARGV[6], 'base', 'checkpoint', 'dropped', ARGV[5])
if drop > 0 then redis.call('LTRIM', KEYS[2], drop, -1) end
return 'stored'`,
};

/** ARGV from 4: ttl, epoch, settings, info. */
export const UPDATE: Script = {
  name: 'update',
  isWrite: true,
  text: `${TOUCH}
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'gone' end
if epoch ~= ARGV[5] then return 'fenced' end
redis.call('HSET', KEYS[1], 'settings', ARGV[6], 'info', ARGV[7], 'seen', now)
touch(tonumber(ARGV[4]))
return 'stored'`,
};

/** ARGV from 4: ttl, epoch. */
export const TOUCHED: Script = {
  name: 'touch',
  isWrite: true,
  text: `${TOUCH}
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return 'gone' end
if epoch ~= ARGV[5] then return 'fenced' end
redis.call('HSET', KEYS[1], 'seen', now)
touch(tonumber(ARGV[4]))
return 'stored'`,
};

/**
 * ARGV from 4: ttl, epoch, frame, token, order, base, hash, opening, settings, info, head or '', checkpoint or '',
 * owner, logged, name of the key or '', digest. A session that the store still has keeps its order; one whose order
 * another session has got since gets the next one, because a page of a list begins after an order.
 */
export const REPLACE: Script = {
  name: 'replace',
  isWrite: true,
  text: `${TOUCH}
local at = redis.call('HMGET', KEYS[1], 'epoch', 'frame', 'order')
if at[1] and tonumber(at[1]) > tonumber(ARGV[5]) then return 'fenced' end
-- Frames are compared as text: they do not fit into the numbers of Lua.
if at[2] and (#at[2] > #ARGV[6] or (#at[2] == #ARGV[6] and at[2] > ARGV[6])) then return 'fenced' end
if not use(ARGV[10]) then return 'mesh' end
local last = prefix .. ':last-order:' .. tenant
local order = at[3] or ARGV[8]
local others = redis.call('ZRANGEBYSCORE', KEYS[5], order, order)
if others[1] and not at[3] then order = redis.call('INCR', last) end
if tonumber(redis.call('GET', last) or '0') < tonumber(order) then redis.call('SET', last, order) end
redis.call('HSET', KEYS[1], 'epoch', ARGV[5], 'frame', ARGV[6], 'token', ARGV[7], 'order', order, 'base', ARGV[9], 'logged', ARGV[17],
  'dropped', ARGV[17], 'mesh', ARGV[10], 'opening', ARGV[11], 'settings', ARGV[12], 'info', ARGV[13], 'owner', ARGV[16], 'seen', now)
redis.call('DEL', KEYS[2])
if ARGV[14] ~= '' then redis.call('HSET', KEYS[1], 'head', ARGV[14]) else redis.call('HDEL', KEYS[1], 'head') end
if ARGV[15] ~= '' then redis.call('HSET', KEYS[1], 'checkpoint', ARGV[15]) else redis.call('HDEL', KEYS[1], 'checkpoint') end
redis.call('HDEL', KEYS[1], 'key')
if ARGV[18] ~= '' then
  local named = prefix .. ':key:' .. tenant .. ':' .. ARGV[18]
  local holder = redis.call('HGET', named, 'id')
  if not holder or holder == id then
    redis.call('HSET', KEYS[1], 'key', ARGV[18])
    redis.call('HSET', named, 'id', id, 'digest', ARGV[19])
  end
end
redis.call('ZADD', KEYS[5], order, id)
touch(tonumber(ARGV[4]))
return 'stored'`,
};

/** ARGV from 4: epoch or ''. A mesh is removed with the last session that uses it. */
export const REMOVE: Script = {
  name: 'remove',
  isWrite: true,
  text: `${BOUND}
local f = redis.call('HMGET', KEYS[1], 'epoch', 'mesh', 'key')
if not f[1] then return 0 end
if ARGV[4] ~= '' and f[1] ~= ARGV[4] then return 0 end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[3], tenant .. ':' .. id)
redis.call('ZREM', KEYS[4], id)
redis.call('ZREM', KEYS[5], id)
if f[3] then redis.call('DEL', prefix .. ':key:' .. tenant .. ':' .. f[3]) end
local mesh, users = prefix .. ':mesh:' .. tenant .. ':' .. f[2], prefix .. ':users:' .. tenant .. ':' .. f[2]
redis.call('SREM', users, id)
if not bound(mesh, users) then redis.call('DEL', mesh, users) end
return 1`,
};

/**
 * Returns id, order, info and the time of the last use (ms since 1970) of each session of the tenant, and removes
 * expired ones.
 */
export const LIST: Script = {
  name: 'list',
  isWrite: false,
  text: `
local found = {}
local members = redis.call('ZRANGE', KEYS[5], 0, -1, 'WITHSCORES')
for i = 1, #members, 2 do
  local f = redis.call('HMGET', ARGV[1] .. ':session:' .. ARGV[2] .. ':' .. members[i], 'info', 'seen')
  if f[1] then found[#found + 1] = {members[i], tonumber(members[i + 1]), f[1], f[2]}
  else redis.call('ZREM', KEYS[5], members[i]) end
end
return found`,
};

const shas = new Map<Script, string>();

export function shaOf(script: Script): string {
  const known = shas.get(script) ?? createHash('sha1').update(script.text).digest('hex');
  shas.set(script, known);
  return known;
}
