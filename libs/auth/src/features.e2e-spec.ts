import { AuthConfigError } from '@svc/auth';
import { TestApp } from '../../../test/support/hosts/app';
import { FEATURES } from './features';
import { type Factor, type Feature, defineFeature } from './foundation/realm/feature';

class Coin {}

describe('the start of an application with a feature that is not complete', () => {
  const start = async (feature: Feature): Promise<unknown> => {
    const features = FEATURES as Feature[];
    features.push(feature);
    try {
      return await TestApp.start({}).catch((error: unknown) => error);
    } finally {
      features.pop();
    }
  };

  it('fails without the erasure of its entities', async () => {
    const data = { entities: [{ entity: Coin, migration: class {} as never }] };
    const error = await start(defineFeature('coin', { data }));
    expect(error).toBeInstanceOf(AuthConfigError);
    expect((error as Error).message).toMatch(/coin has entities.*State data\.erase/);
  });

  it('fails without the removal of its factor', async () => {
    const error = await start(defineFeature('coin', { factor: {} as Factor }));
    expect(error).toBeInstanceOf(AuthConfigError);
    expect((error as Error).message).toMatch(/State on\.takeover[^]*State on\.endAll/);
  });
});
