import { option } from '../../../kit';

export const DEVICE_COOKIES_OPTIONS = {
  features: { deviceBoundCookies: option.feature({ default: false, env: 'FEATURE_DEVICE_BOUND_COOKIES' }) },
} satisfies option.OptionTree;
