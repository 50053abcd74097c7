import { FAMILY_KEYS, familyKey as keyIn, longestLife } from './denylist';

const familyKey = (id: string): string => keyIn(id, { slotTag: () => '' });

describe('the key of a denied session', () => {
  it('is the same for a UUID in upper case', () => {
    const id = '0B9C5F2E-3A71-4E55-9D0F-8C1B2A3D4E5F';
    expect(familyKey(id)).toBe(`svc:dl:fid:${id.toLowerCase()}`);
    expect(familyKey(id)).toBe(familyKey(id.toLowerCase()));
  });

  it.each(['session 7', 'Session 7', '~', 'x'.repeat(255)])('contains the name %j unchanged', (name) => {
    expect(familyKey(name)).toBe(`svc:dl:fid:${name}`);
  });

  it.each(['a\0b', '\ud800', 'ключ', 'x'.repeat(256), 'line\nbreak'])(
    'contains a hash of the name %j, which is not a valid key or PostgreSQL text',
    (name) => expect(familyKey(name)).toMatch(/^svc:dl:fid:sha256:[0-9a-f]{64}$/),
  );

  it('contains the slot tag of the id in lower case, before any text of the id', () => {
    const store = { slotTag: (id: string) => `{tag of ${id}}` };
    expect(keyIn('0B9C5F2E-3A71-4E55-9D0F-8C1B2A3D4E5F', store)).toBe(
      'svc:dl:fid:{tag of 0b9c5f2e-3a71-4e55-9d0f-8c1b2a3d4e5f}0b9c5f2e-3a71-4e55-9d0f-8c1b2a3d4e5f',
    );
    expect(keyIn('{7}', store)).toBe('svc:dl:fid:{tag of {7}}{7}');
  });

  it('differs for different names', () => {
    const names = ['session 7', 'Session 7', 'session 7 ', 'a\0b', 'a\0c', 'x'.repeat(256), 'x'.repeat(257)];
    expect(new Set(names.map(familyKey)).size).toBe(names.length);
  });

  it('begins with the prefix that the scan uses', () => {
    for (const name of ['session 7', 'a\0b']) expect(familyKey(name).startsWith(FAMILY_KEYS)).toBe(true);
  });
});

describe('the longest life of an access token', () => {
  it('is accessTtl plus leeway plus a minute for clock differences', () => {
    expect(longestLife({ accessTtl: 900, leeway: 5 })).toBe(965);
    expect(longestLife({ accessTtl: 1, leeway: 0 })).toBe(61);
  });
});
