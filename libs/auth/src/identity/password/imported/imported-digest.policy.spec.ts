import { bcryptDigest, pbkdf2Digest, phpassBase64, phpassDigest, scryptDigest } from './digests';

const BCRYPT = 'CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
const SALT = 'c2FsdHNhbHQ';
const KEY = 'A'.repeat(43);

describe('a bcrypt digest', () => {
  it.each([
    ['$2a$05$', 14],
    ['$2b$10$', 14],
    ['$2y$12$', 12],
    ['$2b$14$', 14],
    ['$2b$04$', 4],
  ])('with the prefix %s is recognised with a limit of %d rounds', (head, maxRounds) => {
    expect(bcryptDigest(head + BCRYPT, maxRounds)).toBeDefined();
  });

  it.each(['$2x$05$', '$2$05$', '$2b$15$', '$2b$31$', '$2b$03$', '$2b$99$', '$2b$5$'])(
    'with the prefix %s is not recognised',
    (head) => {
      expect(bcryptDigest(head + BCRYPT, 14)).toBeUndefined();
    },
  );

  it('is not recognised with more rounds than the limit', () => {
    expect(bcryptDigest(`$2b$13$${BCRYPT}`, 12)).toBeUndefined();
  });

  it.each(['', '$2b$10$', `$2b$10$${BCRYPT}x`, `$2b$10$${BCRYPT}\n`, `x$2b$10$${BCRYPT}`])(
    'such as %j is not recognised',
    (digest) => {
      expect(bcryptDigest(digest, 14)).toBeUndefined();
    },
  );
});

describe('a bcrypt digest of another framework', () => {
  it.each([
    ['bcrypt$$2b$10$', 'plain', '$2b$10$'],
    ['bcrypt_sha256$$2b$10$', 'django-sha256', '$2b$10$'],
    ['$wp$2y$10$', 'wordpress', '$2y$10$'],
  ])('with the prefix %s has the form %s', (head, form, own) => {
    expect(bcryptDigest(head + BCRYPT, 12)).toEqual({ form, digest: own + BCRYPT, cost: 10 });
  });

  it.each(['$wp$2b$10$', '$wp2y$10$', 'bcrypt$2b$10$', 'bcrypt_sha512$$2b$10$', '$wp$2y$13$', 'bcrypt_sha256$$2b$31$'])(
    'with the prefix %s is not recognised',
    (head) => expect(bcryptDigest(head + BCRYPT, 12)).toBeUndefined(),
  );
});

describe('a phpass digest', () => {
  // From the documentation of phpass and the source of phpBB.
  it.each([
    ['$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0', 2048, 'IQRaTwmf'],
    ['$H$9gc9ZQmmIG7Rn26qEtMPH4e/V.kv8T1', 2048, 'gc9ZQmmI'],
    ['$P$BDSDSDSDS1234567890123456789012', 8192, 'DSDSDSDS'],
    ['$P$5abcdefgh1234567890123456789012', 128, 'abcdefgh'],
    ['$P$Dabcdefgh1234567890123456789012', 32_768, 'abcdefgh'],
  ])('such as %s has %d rounds', (digest, rounds, salt) => {
    expect(phpassDigest(digest)).toMatchObject({ rounds, salt });
  });

  it.each([
    '',
    '$P$4abcdefgh1234567890123456789012',
    '$P$Eabcdefgh1234567890123456789012',
    '$P$zabcdefgh1234567890123456789012',
    '$S$Dabcdefgh1234567890123456789012',
    '$P$Babcdefgh123456789012345678901',
    '$P$Babcdefgh1234567890123456789012\n',
  ])('such as %j is not recognised', (digest) => expect(phpassDigest(digest)).toBeUndefined());

  it('has a base64 with the lowest bits first', () => {
    expect(phpassBase64(Uint8Array.of(1, 0, 0))).toBe('/...');
    expect(phpassBase64(Uint8Array.of(255, 255, 255))).toBe('zzzz');
    expect(phpassBase64(Uint8Array.of(64))).toBe('./');
    expect(phpassBase64(new Uint8Array(16))).toHaveLength(22);
  });
});

describe('a scrypt digest', () => {
  it('is parsed into cost, salt and key', () => {
    const { cost, salt, key } = scryptDigest(`$scrypt$ln=14,r=8,p=1$${SALT}$${KEY}`)!;
    expect(cost).toEqual({ ln: 14, r: 8, p: 1 });
    expect(Buffer.from(salt).toString()).toBe('saltsalt');
    expect(key).toHaveLength(32);
  });

  it.each(['ln=17,r=8,p=1', 'ln=13,r=8,p=10', 'ln=15,r=1,p=1', 'ln=1,r=1,p=1'])('with %s is recognised', (cost) => {
    expect(scryptDigest(`$scrypt$${cost}$${SALT}$${KEY}`)).toBeDefined();
  });

  it.each([
    'ln=0,r=8,p=1',
    'ln=16,r=0,p=1',
    'ln=16,r=8,p=0',
    'ln=18,r=8,p=1',
    'ln=17,r=8,p=2',
    'ln=16,r=1,p=1',
    'ln=31,r=8,p=1',
    'ln=99,r=8,p=1',
    'ln=14,r=999,p=1',
    'ln=14,r=8,p=999',
    'r=8,ln=14,p=1',
  ])('with %s is not recognised', (cost) => {
    expect(scryptDigest(`$scrypt$${cost}$${SALT}$${KEY}`)).toBeUndefined();
  });
});

describe('a PBKDF2 digest', () => {
  it.each([
    [`pbkdf2_sha256$870000$saltsalt$${KEY}=`, 'sha256', 870_000],
    [`pbkdf2_sha1$1000$saltsalt$${KEY}=`, 'sha1', 1000],
    [`$pbkdf2-sha256$29000$${SALT}$${KEY}`, 'sha256', 29_000],
    [`$pbkdf2-sha512$i=29000$${SALT}$${KEY}`, 'sha512', 29_000],
    [`$pbkdf2$29000$${SALT}$${KEY}`, 'sha1', 29_000],
    [`$pbkdf2-sha256$1500000$${SALT}$${KEY}`, 'sha256', 1_500_000],
    [`$pbkdf2-sha1$750000$${SALT}$${KEY}`, 'sha1', 750_000],
  ])('such as %s is parsed into %s and %d iterations', (digest, hash, iterations) => {
    const { cost, salt, key } = pbkdf2Digest(digest)!;
    expect(cost).toEqual({ hash, iterations });
    expect(Buffer.from(salt).toString()).toBe('saltsalt');
    expect(key).toHaveLength(32);
  });

  const aspNet = (prf: number, iterations: number, salt: number, key: number, statedSalt = salt): string => {
    const header = Buffer.alloc(13, 1);
    [prf, iterations, statedSalt].forEach((value, i) => header.writeUInt32BE(value, 1 + 4 * i));
    return Buffer.concat([header, Buffer.alloc(salt, 's'), Buffer.alloc(key, 'k')]).toString('base64');
  };

  it.each([
    [0, 'sha1', 20],
    [1, 'sha256', 32],
    [2, 'sha512', 64],
  ])('of ASP.NET Core Identity with the hash number %d is parsed into %s', (prf, hash, length) => {
    const { cost, salt, key } = pbkdf2Digest(aspNet(prf, 100_000, 16, length))!;
    expect(cost).toEqual({ hash, iterations: 100_000 });
    expect(Buffer.from(salt).toString()).toBe('s'.repeat(16));
    expect(Buffer.from(key).toString()).toBe('k'.repeat(length));
  });

  it.each([
    ['an unknown hash', aspNet(3, 1000, 16, 32)],
    ['no iterations', aspNet(1, 0, 16, 32)],
    ['too many iterations', aspNet(1, 4_000_000_000, 16, 32)],
    ['too many iterations for its blocks', aspNet(1, 800_000, 16, 64)],
    ['no salt', aspNet(1, 1000, 0, 32)],
    ['a short key', aspNet(1, 1000, 16, 15)],
    ['a salt that is longer than the text', aspNet(1, 1000, 16, 32, 999)],
    ['version 0', `AAAA${aspNet(1, 1000, 16, 32).slice(4)}`],
    ['no content', 'AQAAAA=='],
  ])('of ASP.NET Core Identity with %s is not recognised', (_, digest) => {
    expect(pbkdf2Digest(digest)).toBeUndefined();
  });

  it.each([
    `pbkdf2_sha256$0$saltsalt$${KEY}=`,
    `pbkdf2_sha256$99999999$saltsalt$${KEY}=`,
    `pbkdf2_md5$1000$saltsalt$${KEY}=`,
    `$pbkdf2-sha256$1500001$${SALT}$${KEY}`,
    `$pbkdf2-sha1$750001$${SALT}$${KEY}`,
    `$pbkdf2-sha256$300001$${SALT}$${'A'.repeat(172)}`,
    `$pbkdf2-sha256$-1$${SALT}$${KEY}`,
    `$pbkdf2-sha256$1000$$${KEY}`,
    'pbkdf2_sha256$1000$salt$',
  ])('such as %s is not recognised', (digest) => {
    expect(pbkdf2Digest(digest)).toBeUndefined();
  });
});
