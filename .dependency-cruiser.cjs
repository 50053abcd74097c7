// Folders of libs/auth/src by tier: a folder imports its own files and those of earlier tiers only.
const TIERS = [
  ['kernel'],
  ['security-store'],
  ['config'],
  ['session-state'],
  ['observability'],
  ['realm'],
  ['users', 'password'],
  ['tokens'],
  ['http'],
  ['throttling', 'lockout'],
  ['abilities'],
  ['sessions'],
  ['login', 'confirmation', 'verified-email'],
  ['second-step'],
  ['two-factor'],
  ['passkeys'],
  ['mail'],
  ['change-password', 'email-verification'],
  ['password-reset'],
  ['registration', 'account'],
  ['retention'],
  ['migrations'],
  ['health'],
  ['openapi'],
  ['console'],
];

const SRC = '^libs/auth/src/';
const inside = (folders) => `${SRC}(${folders.join('|')})/`;
const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

module.exports = {
  forbidden: [
    forbid('no-cycles', {}, { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } }),
    forbid('policies-are-pure', { path: '\\.policy\\.ts$' }, { dependencyTypesNot: ['type-only'] }),
    forbid('testing-stays-out', { path: SRC, pathNot: inside(['testing']) }, { path: inside(['testing']) }),
    ...TIERS.flatMap((tier, i) =>
      tier.map((folder) =>
        forbid(
          `${folder}-looks-down`,
          { path: inside([folder]) },
          { path: SRC, pathNot: inside([folder, ...TIERS.slice(0, i).flat()]), dependencyTypesNot: ['type-only'] },
        ),
      ),
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // They start the library as a host does.
    exclude: { path: '-spec\\.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
