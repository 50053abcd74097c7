import './shared-choices.mts';
import { h } from 'vue';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import NotFound from './NotFound.vue';
import OldVersion from './OldVersion.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'layout-top': () => h(OldVersion), 'not-found': () => h(NotFound) }),
} satisfies Theme;
