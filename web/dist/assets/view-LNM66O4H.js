import{e as n}from"./chunk-AEMJEILJ.js";function e(){return n("h1",{children:"Owner"})}export{e as View};
