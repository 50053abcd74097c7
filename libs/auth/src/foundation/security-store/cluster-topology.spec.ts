import { commonView, slotOf, viewIn } from './cluster-topology';

describe('the slot of a key', () => {
  // Of the cluster specification of Redis, and computed by `CLUSTER KEYSLOT`.
  it.each([
    ['123456789', 12739],
    ['', 0],
    ['foo', 12182],
    ['ключ 🔑', 10160],
  ])('of %j is %d', (key, slot) => expect(slotOf(key)).toBe(slot));

  it.each([
    ['{user1000}.following', 'user1000'],
    ['foo{{bar}}zap', '{bar'],
    ['foo{bar}{zap}', 'bar'],
    ['svc:dl:fid:{svc-3f}{7}', 'svc-3f'],
  ])('of %j is that of its hash tag %j', (key, tag) => expect(slotOf(key)).toBe(slotOf(tag)));

  it.each([
    ['foo{}{bar}', 8363],
    ['foo{bar', 15278],
    ['foo}bar{', 11073],
  ])('of %j, which has no hash tag, is that of the whole key', (key, slot) => expect(slotOf(key)).toBe(slot));
});

describe('the view of the slots', () => {
  const reply = (first: number) => [
    [5461, 16383, ['127.0.0.1', 7002, 'id2'], ['127.0.0.1', 7003, 'id3']],
    [0, 5460, ['127.0.0.1', first, 'id1', []]],
  ];

  it('contains the master of each range, in the order of the slots', () => {
    expect(viewIn(reply(7001)).ranges).toEqual([
      [0, 5460, '127.0.0.1:7001'],
      [5461, 16383, '127.0.0.1:7002'],
    ]);
  });

  it('is equal for replies in another order', () => {
    expect(viewIn(reply(7001).toReversed()).text).toBe(viewIn(reply(7001)).text);
  });

  it('is that of most masters, so that a master that is out of date has no effect', () => {
    const [old, current] = [viewIn(reply(7001)), viewIn(reply(7009))];
    for (const views of [
      [old, current, current],
      [current, old, current],
    ]) {
      expect(commonView(views)!.text).toBe(current.text);
    }
    expect(commonView([])).toBeUndefined();
  });
});
