import { h } from 'vue';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import NotFound from './NotFound.vue';
import OldVersion from './OldVersion.vue';
import { shareChoices } from './shared-choices.mts';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'layout-top': () => h(OldVersion), 'not-found': () => h(NotFound) }),
  enhanceApp: shareChoices,
} satisfies Theme;
