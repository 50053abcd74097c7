const { AsyncLocalStorage } = require('node:async_hooks');
const crypto = require('node:crypto');
const { LegacyFakeTimers, ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { createClient } = require('@redis/client');
const { Pool } = require('pg');
const { removeAdded } = require('./shared-modules.cjs');

const describeGlobals = () =>
  new Map(Reflect.ownKeys(globalThis).map((key) => [key, Object.getOwnPropertyDescriptor(globalThis, key)]));

/** The storages in use. Each one costs time at every promise of the process until it is disabled. */
const storages = new Set();
for (const method of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[method];
  AsyncLocalStorage.prototype[method] = function (...args) {
    storages.add(this);
    return original.apply(this, args);
  };
}

/** The pools of connections that a test file has used. */
const pools = new Set();
const { connect } = Pool.prototype;
Pool.prototype.connect = function (...args) {
  pools.add(this);
  return connect.apply(this, args);
};

/**
 * Ends the pools of applications that did not start. Nest does not close what such an application has opened, because a
 * host ends then. The timers of the pools would keep the worker running.
 */
function endPools() {
  for (const pool of pools) if (!pool.ending) pool.end().catch(() => undefined);
  pools.clear();
}

/**
 * Makes key pairs copies of generated ones. On Node 20, the export of a generated key as JWK never ends if the garbage of the
 * generation is collected meanwhile: about one of 10,000 exports. Delete it with Node 20.
 */
const { createPrivateKey, createPublicKey, generateKeyPairSync } = crypto;
crypto.generateKeyPairSync = (...args) => {
  const { publicKey, privateKey } = generateKeyPairSync(...args);
  if (typeof privateKey === 'string' || typeof publicKey === 'string') return { publicKey, privateKey };
  return {
    publicKey: createPublicKey(publicKey.export({ format: 'pem', type: 'spki' })),
    privateKey: createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })),
  };
};
const subtle = Object.getPrototypeOf(crypto.webcrypto.subtle);
const { generateKey } = subtle;
subtle.generateKey = async function (...args) {
  const generated = await generateKey.apply(this, args);
  const { publicKey, privateKey } = generated;
  if (!privateKey?.extractable) return generated;
  const copy = async (format, { algorithm, usages }, data) => this.importKey(format, data, algorithm, true, usages);
  return {
    publicKey: await copy('spki', publicKey, await this.exportKey('spki', publicKey)),
    privateKey: await copy('pkcs8', privateKey, await this.exportKey('pkcs8', privateKey)),
  };
};

// A file that replaced the object would leave the next one a copy, in which variables of Node's own functions never appear.
// Now the assignment throws.
Object.defineProperty(process, 'env', { value: process.env, writable: false, enumerable: true, configurable: true });

/** Runs test files in the realm of the process (see {@link NodeRuntime}) and restores its globals afterwards. */
module.exports = class ProcessEnvironment {
  global = globalThis;
  globals = describeGlobals();
  variables = { ...process.env };
  directory = process.cwd();
  exit = process.exit;

  constructor({ projectConfig: config }) {
    this.moduleMocker = new ModuleMocker(globalThis);
    const timers = { config, global: globalThis, moduleMocker: this.moduleMocker };
    this.fakeTimers = new LegacyFakeTimers({ ...timers, timerConfig: { idToRef: (id) => id, refToId: (ref) => ref } });
    this.fakeTimersModern = new ModernFakeTimers(timers);
  }

  /**
   * Empties the Redis database of this worker. Applications with default options have the same keys, and the counters of the
   * file before would refuse the sign-ins of this one.
   */
  async setup() {
    const url = process.env.TEST_REDIS_URL;
    if (!url) return;
    const client = await createClient({ url, database: Number(process.env.JEST_WORKER_ID ?? 0) }).connect();
    await client.flushDb();
    await client.disconnect();
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    // Removes registries that packages keep in globals (class-validator, Jest): they belong to one test file. The registry of
    // TypeORM keeps the entities of the library.
    removeAdded();
    endPools();
    for (const [key, { configurable }] of describeGlobals())
      if (configurable && !this.globals.has(key) && key !== 'typeormMetadataArgsStorage') delete globalThis[key];
    for (const [key, descriptor] of this.globals)
      if (descriptor.configurable) Object.defineProperty(globalThis, key, descriptor);
    for (const storage of storages) storage.disable();
    storages.clear();
    for (const name of Object.keys(process.env)) if (!(name in this.variables)) delete process.env[name];
    Object.assign(process.env, this.variables);
    process.chdir(this.directory);
    // Jest wraps it for each file, and each wrapper keeps the data of its file in memory.
    process.exit = this.exit;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
};
