import type { Limit } from './security-store';

// A counter is a hash: n counted, p pending, b blocked. It expires with its window.
const READ = `
local function read(key)
  local c = redis.call('HMGET', key, 'n', 'p', 'b')
  return tonumber(c[1] or 0), tonumber(c[2] or 0), c[3]
end
local function add(key, field, window)
  redis.call('HINCRBY', key, field, 1)
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, window) end
end`;

/** KEYS counters; ARGV field, then per counter: max, window and block in ms. Returns admitted, then n, p, ms left each. */
export const COUNT = `${READ}
local admitted = 1
for i, key in ipairs(KEYS) do
  local n, p, blocked = read(key)
  if n + p >= tonumber(ARGV[3 * i - 1]) then
    admitted = 0
    local block = tonumber(ARGV[3 * i + 1])
    if block > 0 and n + p > 0 and not blocked then
      redis.call('HSET', key, 'b', 1)
      redis.call('PEXPIRE', key, block)
    end
  end
end
local answer = { admitted }
for i, key in ipairs(KEYS) do
  if admitted == 1 then add(key, ARGV[1], ARGV[3 * i]) end
  local n, p = read(key)
  table.insert(answer, n)
  table.insert(answer, p)
  table.insert(answer, math.max(redis.call('PTTL', key), 0))
end
return answer`;

/** KEYS counters; ARGV outcome, then the window of each in ms. */
export const SETTLE = `${READ}
for i, key in ipairs(KEYS) do
  if ARGV[1] == 'failed' then add(key, 'n', ARGV[i + 1]) end
  local n, p = read(key)
  if p > 0 then p = redis.call('HINCRBY', key, 'p', -1) end
  if ARGV[1] == 'succeeded' and n > 0 then n = 0; redis.call('HSET', key, 'n', 0) end
  if n + p == 0 then redis.call('DEL', key) end
end`;

const ms = (seconds: number): string => String(Math.ceil(seconds * 1000));

export const countArguments = (limits: readonly Limit[], pending: boolean): string[] => [
  pending ? 'p' : 'n',
  ...limits.flatMap(({ max, seconds, blockSeconds = 0 }) => [String(max), ms(seconds), ms(blockSeconds)]),
];

export const settleArguments = (limits: readonly Limit[], outcome: string): string[] => [
  outcome,
  ...limits.map(({ seconds }) => ms(seconds)),
];
