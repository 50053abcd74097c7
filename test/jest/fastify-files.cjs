/** The folders of what an HTTP adapter can change: requests, bodies, errors, gates, mounting, upgrades, addresses and the log. */
const FOLDERS = [
  'libs/auth/src/request/throttling',
  'test/attacks',
  'test/gates',
  'test/health',
  'test/http',
  'test/observability',
  'test/openapi',
  'test/throttling',
];

/** What a test imports that depends on the adapter or on the bytes of a request, and the attributes of cookies. */
const DEPENDS_ON_ADAPTER = /support\/(?:hosts\/adapter|clients\/raw-headers)'|HttpOnly|Max-Age|SameSite/;

/**
 * The sample always runs on Express, in its own process. The others start many hosts, and are about their stores: each feature that
 * they use is tested on Fastify elsewhere.
 */
const ON_EXPRESS = [
  'test/sample/',
  'test/access-keys/verif',
  'test/bound-sessions/clients',
  'test/bound-sessions/device',
  'test/config/surroundings',
  'test/migrations/schemas',
  'test/recipes/configuration',
  'test/users/cold-store',
  'test/users/combinations',
  'test/users/pool',
];

/**
 * Whether a test file belongs to `npm run test:fastify`: its folder, its imports or its expectations concern what an HTTP
 * adapter can change. `npm run test:fastify:all` runs every file.
 *
 * @param {string} path from the root of the repository
 * @param {string} text the content of the file
 */
exports.runsOnFastify = (path, text) =>
  !ON_EXPRESS.some((start) => path.startsWith(start)) &&
  (FOLDERS.some((folder) => path.startsWith(`${folder}/`)) || DEPENDS_ON_ADAPTER.test(text));

exports.FOLDERS = FOLDERS;
exports.ON_EXPRESS = ON_EXPRESS;
exports.MOST_TESTS = 1340;
