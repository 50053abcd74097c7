import { Controller } from '@nestjs/common';
import { FEATURES } from '../../features';
import { defineFeature } from '../../foundation/realm/feature';
import { Route } from '../routes/route';
import { operationErrors } from './library-routes';

@Controller('coins')
class Coins {
  @Route('GET', '', 'coins_list', { summary: 'Lists coins', unlimited: 'a test' })
  list(): void {}
}

@Controller('more-coins')
class MoreCoins {
  @Route('GET', '', 'coins_list', { summary: 'Lists more coins', unlimited: 'a test' })
  list(): void {}
}

describe('the operations of all manifests', () => {
  it('are accepted where each route has its own', () => {
    expect(operationErrors([...FEATURES, defineFeature('coins', { controllers: [Coins] })])).toEqual([]);
  });

  it('are refused where two routes of different features have the same', () => {
    const first = defineFeature('coins', { controllers: [Coins] });
    const second = defineFeature('moreCoins', { defaultGuardControllers: [MoreCoins] });
    expect(operationErrors([...FEATURES, first, second])).toEqual([
      'Two routes have the operation coins_list. Give each route its own.',
    ]);
  });
});
