import{d as s}from"./chunk-WUDWCDU6.js";import{d as o}from"./chunk-AEMJEILJ.js";var t=o(null);function i(){let e=s(t);if(!e)throw new Error("nobody is signed in");return e}export{t as a,i as b};
