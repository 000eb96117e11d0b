import{e as o}from"./chunk-AEMJEILJ.js";function e(){return o("h1",{children:"Models"})}export{e as View};
